internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSelect<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Select.self) { _, context throws(DeviceError) in
      let walk = Walk(context.outputs[0].shape, context.inputs.map(\.shape))
      try walk.check(context)
      return context.dense(context.target.select(walk, of: context.outputs[0].scalar))
    }
  }
}
