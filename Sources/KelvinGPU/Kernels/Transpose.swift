internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addTranspose<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Transpose.self) { op, context throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let output = context.outputs[0].shape
      return try context.moving(
        StridedCopy(sizes: output.dimensions, source: op.permutation.map { strides[$0] }, target: output.strides))
    }
  }
}
