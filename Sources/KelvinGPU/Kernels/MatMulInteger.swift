internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addMatMulInteger<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(MatMulInteger.self) { op, context throws(DeviceError) in
      try context.requireTable(op.requantization, first: 4)
      let operands = MatMulOperands(op, context)
      try operands.check(context)
      guard !operands.isConstant else { return context.offers(operands.plan, operands.weights) }
      return [KernelOffer(NodeLowering { lowering throws(DeviceError) in try operands.lower(lowering) })]
    }
  }
}

/// The matrices of a product. When one weight matrix serves all batches, the rows of all batches form one matrix.
private struct MatMulOperands<Target: GPUTarget> {
  let op: MatMulInteger
  let node: Node
  let plan: IntegerProductPlan
  let target: Target
  let isConstant: Bool
  /// The copies that broadcast the batches of x and y for the kernel.
  let left: StridedCopy
  let right: StridedCopy
  private let broadcastsLeft: Bool

  init(_ op: MatMulInteger, _ context: KernelContext<Target>) {
    self.op = op
    (node, target) = (context.node, context.target)
    let (x, y, z) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
    let (rows, depth, columns) = (z[z.rank - 2], op.depth(context.inputs), z[z.rank - 1])
    let batch = Array(z.dimensions.dropLast(2))
    let isOne = y.dimensions.dropLast(2).allSatisfy { $0 == 1 }
    let images = isOne ? 1 : batch.reduce(1, *)
    isConstant = isOne && context.isConstant(1)
    // Kernels for rows have no variant for few columns.
    let stored = target.storedColumns(max(columns, target.lanes))
    plan = IntegerProductPlan(
      window: SpatialWindow(positions: isOne ? batch.reduce(rows, *) : rows, axes: 3), images: images, groups: 1,
      channels: depth,
      columns: columns, storedColumns: stored, areRows: true, hasOwnWeights: !isOne, x: context.inputs[0].scalar,
      weights: context.inputs[1].scalar, requantization: op.requantization)
    func strides(_ shape: Shape) -> [Int] {
      let own = (0..<shape.rank - 2).map { shape[$0] == 1 ? 0 : shape.strides[$0] }
      return [Int](repeating: 0, count: batch.count - own.count) + own
    }
    func dense(_ matrix: Int) -> [Int] { Shape(batch).strides.map { $0 * matrix } }
    left = StridedCopy(
      sizes: batch + [rows * depth], source: strides(x) + [1], target: dense(rows * depth) + [1])
    right = StridedCopy(
      sizes: (isOne ? [] : batch) + [depth, columns],
      source: (isOne ? [] : strides(y)) + (op.transposesY ? [1, depth] : [columns, 1]),
      target: (isOne ? [] : dense(depth * stored)) + [stored, 1])
    broadcastsLeft = !isOne && x.dimensions.dropLast(2).reduce(1, *) != images
  }

  func check(_ context: KernelContext<Target>) throws(DeviceError) {
    for copy in [left, right] where copy.axes.count > StridedCopy.limit {
      throw context.unsupported("batches over \(copy.axes.count) axes that cannot be merged")
    }
  }

  /// The order of weights that all batches share.
  var weights: IntegerWeights {
    let (columns, depth, transposesY) = (plan.columns, plan.channels, op.transposesY)
    return IntegerWeights(order: transposesY ? "rows" : "columns") { _, column, channel, _ in
      transposesY ? column * depth + channel : channel * columns + column
    }
  }

  /// Adds the product of two tensors.
  func lower(_ lowering: Lowering<Target>) throws(DeviceError) {
    var x = try lowering.read(node.inputs[0], .dense)
    if broadcastsLeft {
      let whole = lowering.temporary(plan.images * plan.positions * plan.channels, of: plan.x)
      lowering.copy(left, of: plan.x, from: x, to: whole)
      x = whole
    }
    let count = plan.images * plan.weightCount
    let spread = lowering.temporary(count, of: plan.weights)
    lowering.copy(right, of: plan.weights, from: try lowering.read(node.inputs[1], .dense), to: spread)
    guard !target.isSameOutside(plan.weights) else { return try lowering.multiply(plan, x, spread) }
    let type = TensorType(plan.weights, [count])
    let bytes = lowering.temporary(outside: type)
    lowering.run(target.leave(type), [spread], bytes)
    try lowering.multiply(plan, x, bytes)
  }
}
