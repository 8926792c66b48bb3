import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addReduce() {
    addOffers(Reduce.self) { (op, context) throws(DeviceError) in
      let usesIntegers = try context.usesIntegers()
      let element = context.inputs[0].scalar.innerByteCount
      if usesIntegers, [.l2, .logSum, .logSumExp].contains(op.function) {
        throw context.unsupported("\(op.function.rawValue) in \(context.inputs[0].scalar.rawValue) arithmetic")
      }
      let type = context.inputs[0].scalar.innerCode
      let shape = context.inputs[0].shape
      let run = context.variant.kernels.reduce
      var arguments = ck_reduce_args()
      arguments.function = Int(op.code)
      arguments.length = op.length(context.inputs)
      arguments.outer = 1
      arguments.inner = context.outputs[0].count

      // Reduced axes that are neighbours, apart from axes of size one, are one axis in the middle.
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
          sizes: sizes.dimensions, source: order.map { shape.strides[$0] }, target: sizes.strides, element: element,
          in: context)
        (arguments.outer, arguments.inner) = (arguments.inner, 1)
      }
      var kernel = CPUKernel { [arguments] operands, list in
        var arguments = arguments
        var source = operands.inputs[0]
        if let copy {
          copy.record(from: source, to: operands.temporaries[0], list)
          source = UnsafeRawPointer(operands.temporaries[0])
        }
        if usesIntegers {
          let integers = ck_int_reduce_args(
            x: source, y: operands.outputs[0], type: type, function: arguments.function, outer: arguments.outer,
            length: arguments.length, inner: arguments.inner)
          list.add(
            ck_int_reduce_run, integers, items: arguments.outer, cost: 2 * arguments.length * arguments.inner)
          return
        }
        arguments.x = source?.assumingMemoryBound(to: Float.self)
        arguments.y = operands.result()
        list.add(
          run, arguments, items: arguments.outer * parts(arguments.inner, of: Int(ck_reduce_chunk)),
          cost: arguments.length * min(arguments.inner, Int(ck_reduce_chunk)))
      }
      if copy != nil { kernel.temporaries = [element * shape.count] }
      guard !usesIntegers, let blocks = op.onBlocks(context) else { return [KernelOffer(kernel)] }
      return [KernelOffer(kernel), blocks]
    }
  }
}

extension Reduce {
  /// Returns the reduction over all axes after the channels, on blocks of channels; nil for other axes, or if there are
  /// no blocks.
  fileprivate func onBlocks(_ context: CPUContext) -> KernelOffer<CPUKernel>? {
    let (shape, result) = (context.inputs[0].shape, context.outputs[0].shape)
    let lanes = context.variant.kernels.lanes
    guard context.variant.hasBlocks, shape.rank > 2, result.rank > 1, Set(axes) == Set(2..<shape.rank) else {
      return nil
    }
    let blocks = BlockedShape(shape, lanes: lanes)
    let run = context.variant.kernels.reduce
    let kernel = CPUKernel { operands, list in
      let arguments = ck_reduce_args(
        x: operands.floats(0), y: operands.result(), function: Int(code), outer: blocks.batch * blocks.blocks,
        length: blocks.area, inner: lanes)
      list.add(run, arguments, items: arguments.outer, cost: blocks.area * lanes)
    }
    let layouts = KernelLayouts(reads: [.blocks(of: lanes)], writes: [.blocks(of: lanes)])
    return KernelOffer(kernel, "blocks", layouts)
  }
}
