internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Reduce, _ context: KernelContext<Self>) throws(DeviceError) -> [GPUOffer<Self>] {
    let shape = context.inputs[0].shape
    let dense = KernelOffer(try context.reducing(op) { reduce(op, $0) })
    guard shape.rank > 2, op.axes == Array(2..<shape.rank) else { return [dense] }
    let blocked = BlockedShape(shape, lanes: lanes)
    let lines = ReductionRows(
      outer: blocked.batch * blocked.blocks, length: op.length(context.inputs), inner: blocked.lanes)
    return [dense, context.blocked(reduce(op, lines))]
  }

  private func reduce(_ op: Reduce, _ lines: ReductionRows) -> KernelDispatch<KernelName> {
    let areRows = lines.inner == 1
    return call(
      KernelName(program: "reduce", function: areRows ? "reduce_rows" : "reduce_columns"),
      Parameters(lines.outer, lines.length, lines.inner, Int(op.code)),
      items: areRows ? lines.outer : lines.outer * pieces(lines.inner, of: lanes))
  }
}
