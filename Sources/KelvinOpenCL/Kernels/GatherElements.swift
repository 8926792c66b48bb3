internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addGatherElements() {
    add(GatherElements.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let x = context.inputs[0]
      var strides = x.shape.strides
      let step = strides[op.axis]
      strides[op.axis] = 0
      let plan = BroadcastPlan(context.outputs[0].shape, strides: [strides])
      try plan.check(context)
      let defines = ["ELEMENT=\(x.scalar.kernelName)", "INDEX=\(context.inputs[1].scalar.kernelName)"]
      return walking(
        plan, KernelName(program: "gather_elements", defines: defines, function: "gather_elements"),
        [.int(x.shape[op.axis]), .int(step)])
    }
  }
}
