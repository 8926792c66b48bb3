import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addTranspose() {
    add(Transpose.self) { op, context throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let output = context.outputs[0].shape
      return try context.kernel(
        StridedCopy(sizes: output.dimensions, source: op.permutation.map { strides[$0] }, target: output.strides))
    }
  }
}
