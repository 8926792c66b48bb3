import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addCumulativeReduce() {
    add(CumulativeReduce.self) { (op, context) throws(DeviceError) in
      _ = try context.usesIntegers()
      let shape = context.inputs[0].shape
      var arguments = ck_cumulative_reduce_args()
      arguments.type = context.inputs[0].scalar.innerCode
      arguments.outer = shape.dimensions[..<op.axis].reduce(1, *)
      arguments.length = shape[op.axis]
      arguments.inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      arguments.product = op.function == .product
      arguments.exclusive = op.isExclusive
      arguments.reversed = op.isReversed
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.y = operands.outputs[0]
        list.add(
          ck_cumulative_reduce_run, arguments, items: arguments.outer * arguments.inner, cost: 2 * arguments.length)
      }
    }
  }
}
