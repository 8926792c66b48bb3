import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addSlice() {
    add(Slice.self) { op, context throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let isEmpty = context.outputs[0].count == 0
      return try context.kernel(
        StridedCopy(
          sizes: op.counts, source: zip(strides, op.steps).map { isEmpty ? 0 : $0 &* $1 },
          target: context.outputs[0].shape.strides,
          from: isEmpty ? 0 : zip(strides, op.starts).reduce(0) { $0 + $1.0 * $1.1 }))
    }
  }
}
