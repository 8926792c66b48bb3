internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addRandomUniform<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(RandomUniform.self) { op, context throws(DeviceError) in
      let count = context.outputs[0].count
      return context.dense(
        GPUKernel("random_uniform", reads: [.words], Parameters(count, op.stream), of: (count + 3) / 4, cost: 4))
    }
  }
}
