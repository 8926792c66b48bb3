internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSlice<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Slice.self) { op, context throws(DeviceError) in
      let (from, to) = (context.inputs[0].shape.strides, context.outputs[0].shape)
      let start = zip(from, op.starts).reduce(0) { $0 &+ $1.0 &* $1.1 }
      if to.count > 0, op.isRun(of: context.inputs[0].shape) {
        let node = context.node
        return NodeLowering(takesAnySize: true) { lowering throws(DeviceError) in
          try lowering.view(node.inputs[0], from: start, as: node.outputs[0])
        }
      }
      return try context.moving(
        StridedCopy(
          sizes: to.dimensions, source: zip(from, op.steps).map { $0 &* $1 }, target: to.strides,
          sourceOffset: start))
    }
  }
}
