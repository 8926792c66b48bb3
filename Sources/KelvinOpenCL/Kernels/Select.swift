internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addSelect() {
    add(Select.self) { _, context throws(DeviceError) in
      try context.checkSizes()
      let plan = BroadcastPlan(context.outputs[0].shape, context.inputs.map(\.shape))
      try plan.check(context)
      let element = "ELEMENT=\(context.outputs[0].scalar.kernelName)"
      return walking(plan, KernelName(program: "select", defines: [element], function: "select_elements"), [])
    }
  }
}
