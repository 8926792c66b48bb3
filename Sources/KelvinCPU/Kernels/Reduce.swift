import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addReduce() {
    add(Reduce.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let shape = context.inputs[0].shape
      let run = context.variant.kernels.reduce
      var arguments = ck_reduce_args()
      arguments.function = Int(op.code)
      arguments.length = op.length(context.inputs)
      arguments.outer = 1
      arguments.inner = context.outputs[0].count

      // Reduced axes that are neighbours, sizes of one aside, are one axis in the middle.
      let long = shape.dimensions.indices.filter { shape[$0] != 1 }
      let reduced = long.indices.filter { op.axes.contains(long[$0]) }
      var copy: CPUCopy?
      if let first = reduced.first, let last = reduced.last, last - first + 1 == reduced.count {
        arguments.outer = long[..<first].reduce(1) { $0 * shape[$1] }
        arguments.inner = long[(last + 1)...].reduce(1) { $0 * shape[$1] }
      } else if !reduced.isEmpty {
        let order = long.filter { !op.axes.contains($0) } + reduced.map { long[$0] }
        let sizes = Shape(order.map { shape[$0] })
        copy = try CPUCopy(
          sizes: sizes.dimensions, source: order.map { shape.strides[$0] }, target: sizes.strides, element: 4,
          in: context)
        (arguments.outer, arguments.inner) = (arguments.inner, 1)
      }
      var kernel = CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.floats(0)
        if let copy {
          copy.record(from: operands.inputs[0], to: operands.temporaries[0], list)
          arguments.x = UnsafePointer(operands.temporary(0))
        }
        arguments.y = operands.result()
        list.add(
          run, arguments, items: arguments.outer * parts(arguments.inner, of: Int(ck_reduce_chunk)),
          cost: arguments.length * min(arguments.inner, Int(ck_reduce_chunk)))
      }
      if copy != nil { kernel.temporaries = [4 * shape.count] }
      return kernel
    }
  }
}
