import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addArgReduce() {
    add(ArgReduce.self) { (op, context) throws(DeviceError) in
      let usesIntegers = try context.usesIntegers()
      let type = context.inputs[0].scalar.innerCode
      let (outer, length, inner) = context.inputs[0].shape.around(op.axis)
      let (element, isMinimum) = (op.scalar.byteCount, op.function == .minimum)
      guard element >= 4 || length <= 1 << (8 * element - 1) else {
        throw context.unsupported("positions up to \(length - 1) as \(op.scalar.rawValue)")
      }
      guard inner == 1 || length <= Int(Int32.max) else { throw context.unsupported("\(length) positions") }
      let chunk = Int(ck_arg_reduce_chunk)
      return CPUKernel { operands, list in
        if usesIntegers {
          let arguments = ck_int_arg_reduce_args(
            x: operands.inputs[0], y: operands.outputs[0], type: type, element: element, outer: outer, length: length,
            inner: inner, minimum: isMinimum, takes_last: op.takesLast)
          list.add(ck_int_arg_reduce_run, arguments, items: outer, cost: 2 * length * inner)
          return
        }
        let arguments = ck_arg_reduce_args(
          x: operands.floats(0), y: operands.outputs[0], element: element, outer: outer, length: length, inner: inner,
          minimum: isMinimum, takes_last: op.takesLast)
        list.add(
          ck_arg_reduce_run, arguments, items: outer * parts(inner, of: chunk), cost: length * min(inner, chunk))
      }
    }
  }
}
