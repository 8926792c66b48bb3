internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addSlice() {
    add(Slice.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let (from, to) = (context.inputs[0].shape, context.outputs[0].shape)
      let strides = (0..<from.rank).map { from.strides[$0] &* op.steps[$0] }
      let offset = (0..<from.rank).reduce(0) { $0 &+ from.strides[$1] &* op.starts[$1] }
      return try moving(
        context, StridedCopy(sizes: to.dimensions, source: strides, target: to.strides, sourceOffset: offset))
    }
  }
}
