internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addTranspose() {
    add(Transpose.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let (from, to) = (context.inputs[0].shape, context.outputs[0].shape)
      let strides = op.permutation.map { from.strides[$0] }
      return try moving(context, StridedCopy(sizes: to.dimensions, source: strides, target: to.strides))
    }
  }
}
