internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCompare<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Compare.self) { op, context throws(DeviceError) in
      let iteration = StridedIteration(context.outputs[0].shape, context.inputs.map(\.shape))
      try iteration.check(context)
      return context.dense(
        GPUKernel(
          "compare", [.number(context.inputs[0].scalar)], constants: [("SELECTED", Int(op.code))],
          reads: [.elements, .elements], Parameters(Int(op.code)), over: iteration))
    }
  }
}
