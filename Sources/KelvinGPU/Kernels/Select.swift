internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSelect<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Select.self) { _, context throws(DeviceError) in
      let iteration = StridedIteration(context.outputs[0].shape, context.inputs.map(\.shape))
      try iteration.check(context)
      return context.dense(
        GPUKernel(
          "select_elements", [.moved(context.outputs[0].scalar)], reads: [.words, .elements, .elements],
          over: iteration))
    }
  }
}
