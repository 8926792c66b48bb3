import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addLocalResponseNormalization() {
    add(LocalResponseNormalization.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let shape = context.inputs[0].shape
      let inner = shape.dimensions.dropFirst(2).reduce(1, *)
      let run = context.variant.kernels.response_normalization
      let chunk = Int(ck_reduce_chunk)
      return CPUKernel { operands, list in
        let arguments = ck_response_normalization_args(
          x: operands.floats(0), y: operands.result(), channels: shape[1], inner: inner, before: (op.size - 1) / 2,
          after: op.size / 2, factor: op.alpha / Float(op.size), beta: op.beta, k: op.k)
        list.add(
          run, arguments, items: shape[1] == 0 ? 0 : shape[0] * parts(inner, of: chunk),
          cost: shape[1] * min(inner, chunk) * (min(op.size, shape[1]) + 20))
      }
    }
  }
}
