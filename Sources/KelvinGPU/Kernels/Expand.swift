internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addExpand<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Expand.self) { _, context throws(DeviceError) in
      let (input, output) = (context.inputs[0].shape, context.outputs[0].shape)
      let own = zip(input.dimensions, input.strides).map { $0 == 1 ? 0 : $1 }
      let repeated = [Int](repeating: 0, count: output.rank - input.rank)
      return try context.moving(StridedCopy(sizes: output.dimensions, source: repeated + own, target: output.strides))
    }
  }
}
