internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addCompare() {
    add(Compare.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let plan = BroadcastPlan(context.outputs[0].shape, context.inputs.map(\.shape))
      try plan.check(context)
      let element = "ELEMENT=\(context.inputs[0].scalar.kernelName)"
      return walking(
        plan, KernelName(program: "compare", defines: [element], function: "compare"), [.int(Int(op.code))])
    }
  }
}
