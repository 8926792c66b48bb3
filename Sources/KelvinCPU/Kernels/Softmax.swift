import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSoftmax() {
    add(Softmax.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let (outer, length, inner) = context.inputs[0].shape.around(op.axis)
      let run = context.variant.kernels.softmax
      return CPUKernel { operands, list in
        let arguments = ck_softmax_args(
          x: operands.floats(0), y: operands.result(), outer: outer, length: length, inner: inner)
        list.add(
          run, arguments, items: length == 0 ? 0 : outer * parts(inner, of: Int(ck_reduce_chunk)),
          cost: 14 * length * min(inner, Int(ck_reduce_chunk)))
      }
    }
  }
}
