import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSoftmax() {
    add(Softmax.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let sizes = context.inputs[0].shape.dimensions
      let outer = sizes[..<op.axis].reduce(1, *)
      let inner = sizes[(op.axis + 1)...].reduce(1, *)
      let run = context.variant.kernels.softmax
      return CPUKernel { operands, list in
        let arguments = ck_softmax_args(
          x: operands.floats(0), y: operands.result(), outer: outer, length: sizes[op.axis], inner: inner)
        list.add(
          run, arguments, items: sizes[op.axis] == 0 ? 0 : outer * parts(inner, of: Int(ck_reduce_chunk)),
          cost: 14 * sizes[op.axis] * min(inner, Int(ck_reduce_chunk)))
      }
    }
  }
}
