internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addRandomUniform<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(RandomUniform.self) { op, context throws(DeviceError) in
      context.dense(context.target.randomUniform(op, count: context.outputs[0].count))
    }
  }
}
