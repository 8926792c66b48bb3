internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Reduce, _ context: KernelContext<Self>) throws(DeviceError) -> [GPUOffer<Self>] {
    let (node, scalar, shape) = (context.node, context.inputs[0].scalar, context.inputs[0].shape)
    let kept = (0..<shape.rank).filter { !op.axes.contains($0) }
    let order = kept + op.axes
    let moved = StridedCopy(
      sizes: order.map { shape[$0] }, source: order.map { shape.strides[$0] },
      target: Shape(order.map { shape[$0] }).strides)
    guard moved.axes.count <= StridedCopy.limit else {
      throw context.unsupported("reducing over more than \(StridedCopy.limit) axes")
    }
    let length = op.length(context.inputs)
    let areNeighbours = zip(op.axes, op.axes.dropFirst()).allSatisfy { $1 == $0 + 1 }
    let dense = NodeLowering<Self> { lowering throws(DeviceError) in
      let (x, y) = (node.inputs[0], node.outputs[0])
      if areNeighbours, let first = op.axes.first, let last = op.axes.last {
        let call = reduce(
          op, scalar, outer: shape.dimensions[..<first].reduce(1, *), length: length,
          inner: shape.dimensions[(last + 1)...].reduce(1, *))
        try lowering.runDense(call)
      } else {
        let rows = lowering.temporary(shape.count, of: scalar)
        lowering.copy(moved, of: scalar, from: try lowering.read(x, .dense), to: rows)
        let call = reduce(op, scalar, outer: kept.reduce(1) { $0 * shape[$1] }, length: length, inner: 1)
        lowering.run(call, [rows], lowering.write(y, .dense))
      }
    }
    guard scalar.isFloatingPoint, shape.rank > 2, op.axes == Array(2..<shape.rank) else {
      return [KernelOffer(dense)]
    }
    let blocked = BlockedShape(shape, lanes: lanes)
    let call = reduce(op, scalar, outer: blocked.batch * blocked.blocks, length: length, inner: blocked.lanes)
    return [KernelOffer(dense), context.blocked(call)]
  }

  private func reduce(_ op: Reduce, _ scalar: ScalarType, outer: Int, length: Int, inner: Int) -> KernelDispatch<
    KernelName
  > {
    guard scalar.isFloatingPoint else {
      let run = run(of: inner)
      return call(
        KernelName(program: "reduce_of_integers", defines: scalar.wideDefines, function: "reduce_of_integers"),
        Parameters(outer, length, inner, run, Int(op.code)), items: pieces(inner, of: run), outer)
    }
    let areRows = inner == 1
    return call(
      KernelName(program: "reduce", function: areRows ? "reduce_rows" : "reduce_columns"),
      Parameters(outer, length, inner, Int(op.code)), items: areRows ? outer : outer * pieces(inner, of: lanes))
  }
}
