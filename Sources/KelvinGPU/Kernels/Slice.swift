internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSlice<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Slice.self) { op, context throws(DeviceError) in
      let (from, to) = (context.inputs[0].shape.strides, context.outputs[0].shape)
      return try context.moving(
        StridedCopy(
          sizes: to.dimensions, source: zip(from, op.steps).map { $0 &* $1 }, target: to.strides,
          sourceOffset: zip(from, op.starts).reduce(0) { $0 &+ $1.0 &* $1.1 }))
    }
  }
}
