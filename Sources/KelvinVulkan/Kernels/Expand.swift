import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addExpand() {
    add(Expand.self) { _, context throws(DeviceError) in
      let (input, output) = (context.inputs[0].shape, context.outputs[0].shape)
      let own = zip(input.dimensions, input.strides).map { $0 == 1 ? 0 : $1 }
      return try context.kernel(
        StridedCopy(
          sizes: output.dimensions, source: [Int](repeating: 0, count: output.rank - input.rank) + own,
          target: output.strides))
    }
  }
}
