internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Binary, _ iteration: StridedIteration, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let shapes = (context.inputs + context.outputs).map(\.shape)
    let node = context.node
    let dense = KernelOffer(context.dense(binary(op, iteration)))
    guard let blocked = StridedIteration(blocked: shapes[2], [shapes[0], shapes[1]], tuning) else { return [dense] }
    let (call, blocks) = (binary(op, blocked), blocks)
    let layouts = context.inputs.map { $0.count == 1 ? ValueLayout.dense : blocks }
    let kernel = NodeLowering<Self> { lowering throws(DeviceError) in
      var reads: [Storage] = []
      for (input, layout) in zip(node.inputs, layouts) { reads.append(try lowering.read(input, layout)) }
      lowering.run(call, reads, lowering.write(node.outputs[0], blocks))
    }
    return [dense, context.blocked(kernel, reads: layouts)]
  }

  private func binary(_ op: Binary, _ iteration: StridedIteration) -> KernelDispatch<KernelName> {
    dispatch(
      GPUKernel(
        "binary", [], constants: [("VARIANT", Int(op.code))], reads: [.floats, .floats], Parameters(Int(op.code)),
        over: iteration))
  }
}

extension StridedIteration {
  /// Creates the iteration over blocked operands, or returns nil if an operand's blocks do not match the result's.
  fileprivate init?(blocked result: Shape, _ operands: [Shape], _ tuning: Tuning) {
    guard result.rank >= 2 else { return nil }
    func view(_ shape: Shape) -> Shape? {
      if shape.count == 1 { return Shape(Array(repeating: 1, count: result.rank + 1)) }
      guard shape.rank == result.rank, shape[1] == result[1] else { return nil }
      return Shape([shape[0], tuning.blocks(shape[1])] + shape.dimensions.dropFirst(2) + [tuning.lanes])
    }
    let views = operands.compactMap(view)
    guard let whole = view(result), views.count == operands.count else { return nil }
    self.init(whole, views)
    if axes.count > Self.limit { return nil }
  }
}
