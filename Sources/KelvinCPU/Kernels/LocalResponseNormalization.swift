import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addLocalResponseNormalization() {
    add(LocalResponseNormalization.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let shape = context.inputs[0].shape
      var arguments = ck_response_normalization_args()
      arguments.channels = shape[1]
      arguments.inner = shape.dimensions.dropFirst(2).reduce(1, *)
      arguments.before = (op.size - 1) / 2
      arguments.after = op.size / 2
      arguments.factor = op.alpha / Float(op.size)
      arguments.beta = op.beta
      arguments.k = op.k
      let run = context.variant.kernels.response_normalization
      let chunk = Int(ck_reduce_chunk)
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.floats(0)
        arguments.y = operands.result()
        let items = shape[1] == 0 ? 0 : shape[0] * parts(arguments.inner, of: chunk)
        list.add(
          run, arguments, items: items,
          cost: shape[1] * min(arguments.inner, chunk) * (min(op.size, shape[1]) + 20))
      }
    }
  }
}
