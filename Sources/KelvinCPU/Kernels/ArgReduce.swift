import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addArgReduce() {
    add(ArgReduce.self) { (op, context) throws(DeviceError) in
      let usesIntegers = try context.usesIntegers()
      let type = context.inputs[0].scalar.innerCode
      let shape = context.inputs[0].shape
      var arguments = ck_arg_reduce_args()
      arguments.element = op.scalar.byteCount
      arguments.outer = shape.dimensions[..<op.axis].reduce(1, *)
      arguments.length = shape[op.axis]
      arguments.inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      arguments.minimum = op.function == .minimum
      arguments.takes_last = op.takesLast
      guard op.scalar.byteCount >= 4 || arguments.length <= 1 << (8 * op.scalar.byteCount - 1) else {
        throw context.unsupported("positions up to \(arguments.length - 1) as \(op.scalar.rawValue)")
      }
      let chunk = Int(ck_arg_reduce_chunk)
      return CPUKernel { [arguments] operands, list in
        if usesIntegers {
          let integers = ck_int_arg_reduce_args(
            x: operands.inputs[0], y: operands.outputs[0], type: type, element: arguments.element,
            outer: arguments.outer, length: arguments.length, inner: arguments.inner, minimum: arguments.minimum,
            takes_last: arguments.takes_last)
          list.add(
            ck_int_arg_reduce_run, integers, items: arguments.outer, cost: 2 * arguments.length * arguments.inner)
          return
        }
        var arguments = arguments
        arguments.x = operands.floats(0)
        arguments.y = operands.outputs[0]
        list.add(
          ck_arg_reduce_run, arguments, items: arguments.outer * parts(arguments.inner, of: chunk),
          cost: arguments.length * min(arguments.inner, chunk))
      }
    }
  }
}
