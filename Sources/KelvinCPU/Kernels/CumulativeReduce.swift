import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addCumulativeReduce() {
    add(CumulativeReduce.self) { (op, context) throws(DeviceError) in
      let run = try context.usesIntegers() ? ck_cumulative_reduce_run : context.variant.kernels.running
      let type = context.inputs[0].scalar.innerCode
      let (outer, length, inner) = context.inputs[0].shape.around(op.axis)
      let chunk = Int(ck_cumulative_reduce_chunk)
      return CPUKernel { operands, list in
        let arguments = ck_cumulative_reduce_args(
          x: operands.inputs[0], y: operands.outputs[0], type: type, outer: outer, length: length, inner: inner,
          product: op.function == .product, exclusive: op.isExclusive, reversed: op.isReversed)
        list.add(
          run, arguments, items: outer * parts(inner, of: chunk),
          cost: 2 * length * min(inner, chunk))
      }
    }
  }
}
