import KelvinGraph

extension IntegerMatcher {
  mutating func fuse(
    _ op: Convolution, _ core: Node, _ chain: [Int], _ result: QuantizedValue, _ bounds: ClosedRange<Int>
  ) throws(GraphError) {
    guard let x = dequantized(core.inputs[0]), let weights = weights(core.inputs[1], axis: 0) else { return }
    let product = IntegerProduct(
      op: ConvolutionInteger(
        window: op.window, groups: op.groups,
        requantization: Requantization(result.scalar, lower: bounds.lowerBound, upper: bounds.upperBound)),
      plain: Convolution(window: op.window, groups: op.groups), channelAxis: 1, weightsAxis: 0)
    try fuse(
      product, core, chain, x, weights, bias: op.epilogue.hasBias ? core.inputs[2] : nil,
      channels: edits.type(core.inputs[1]).shape[0], result)
  }

  mutating func fuse(
    _ op: Linear, _ core: Node, _ chain: [Int], _ result: QuantizedValue, _ bounds: ClosedRange<Int>,
    addend: ValueID? = nil
  ) throws(GraphError) {
    guard edits.type(core.inputs[0]).shape.rank >= 2, let x = dequantized(core.inputs[0]),
      let weights = weights(core.inputs[1], axis: 0), !op.epilogue.hasBias || addend == nil
    else { return }
    let product = IntegerProduct(
      op: MatMulInteger(
        transposesY: true,
        requantization: Requantization(result.scalar, lower: bounds.lowerBound, upper: bounds.upperBound)),
      plain: Linear(), channelAxis: nil, weightsAxis: 0)
    try fuse(
      product, core, chain, x, weights, bias: op.epilogue.hasBias ? core.inputs[2] : addend,
      channels: edits.type(core.inputs[1]).shape[0], result)
  }

  mutating func fuse(
    _ op: MatMul, _ core: Node, _ chain: [Int], _ result: QuantizedValue, _ bounds: ClosedRange<Int>
  ) throws(GraphError) {
    guard let x = dequantized(core.inputs[0]) else { return }
    let shape = edits.type(core.inputs[1]).shape
    let axis = shape.rank - (op.transposesY ? 2 : 1)
    let columns = shape[axis]
    let product = IntegerProduct(
      op: MatMulInteger(
        transposesY: op.transposesY,
        requantization: Requantization(result.scalar, lower: bounds.lowerBound, upper: bounds.upperBound)),
      plain: op, channelAxis: nil, weightsAxis: axis)
    if let weights = weights(core.inputs[1], axis: axis) {
      try fuse(product, core, chain, x, weights, bias: nil, channels: columns, result)
    } else if let y = dequantized(core.inputs[1]) {
      let weights = QuantizedWeight(id: y.id, zeroID: y.zeroID, scales: [y.scale], nodes: [y.node])
      try fuse(product, core, chain, x, weights, bias: nil, channels: columns, result)
    }
  }

  /// Fuses a product whose bias is added by a separate node.
  mutating func fuseBias(
    _ op: Binary, _ core: Node, _ chain: [Int], _ result: QuantizedValue, _ bounds: ClosedRange<Int>
  ) throws(GraphError) -> Bool {
    guard op.function == .add, let place = chain.last else { return false }
    for (input, other) in [(0, 1), (1, 0)] {
      guard let inner = soleProducer(of: core.inputs[input], for: place), let product = edits.node(inner),
        let linear = product.op as? Linear, !linear.epilogue.hasBias, !linear.epilogue.isFused,
        edits.type(core.outputs[0]) == edits.type(product.outputs[0])
      else { continue }
      let count = edits.changes.count
      try fuse(linear, product, chain + [inner], result, bounds, addend: core.inputs[other])
      if edits.changes.count != count { return true }
    }
    return false
  }

  /// Fuses a mean over all spatial axes, as a depthwise product with ones.
  mutating func fuse(
    _ op: Reduce, _ core: Node, _ chain: [Int], _ result: QuantizedValue, _ bounds: ClosedRange<Int>
  ) throws(GraphError) {
    let type = edits.type(core.inputs[0])
    let spatial = Array(type.shape.dimensions.dropFirst(2))
    guard let x = dequantized(core.inputs[0]), op.keepsDimensions, (1...2).contains(spatial.count),
      op.axes == Array(2..<type.shape.rank), Shape(spatial).count > 0, Shape(spatial).count <= 1 << 14
    else { return }
    let channels = type.shape[1]
    let name = edits.graph[core.outputs[0]].name
    let ones = TensorType(.uint8, Shape([channels, 1] + spatial))
    let filters = edits.addWeight(
      "\(name)#ones", Weight(ones) { Tensor(ones, Bytes([UInt8](repeating: 1, count: ones.count))) })
    let zero = edits.addWeight("\(name)#zero", Weight(Tensor(TensorType(.uint8, []), rounding: [0])))
    let window = Window(kernel: spatial)
    let product = IntegerProduct(
      op: ConvolutionInteger(
        window: window, groups: channels,
        requantization: Requantization(result.scalar, lower: bounds.lowerBound, upper: bounds.upperBound)),
      plain: Convolution(window: window, groups: channels), channelAxis: 1, weightsAxis: 0)
    let weights = QuantizedWeight(id: filters, zeroID: zero, scales: [1], nodes: [])
    try fuse(
      product, core, chain, x, weights, bias: nil, channels: channels, result, divisor: Float(Shape(spatial).count))
  }

  /// Fuses a product.
  ///
  /// - Parameter divisor: An additional divisor of the sums, besides the scales.
  private mutating func fuse(
    _ product: IntegerProduct, _ core: Node, _ chain: [Int], _ x: QuantizedValue, _ weights: QuantizedWeight,
    bias: ValueID?, channels: Int, _ result: QuantizedValue, divisor: Float = 1
  ) throws(GraphError) {
    let products = weights.scales.map { x.scale * $0 }
    var vector: (weight: Weight, node: Int)?
    if let bias {
      vector = self.bias(bias, channels: channels, scales: products)
      if vector == nil { return }
    }
    let scales = products.map { $0 / (result.scale * divisor) }
    guard scales.allSatisfy({ $0.isFinite && $0 > 0 }) else { return }
    let name = edits.graph[result.id].name
    let biasType = TensorType(.int32, [channels])
    let sums =
      vector?.weight ?? Weight(biasType) { Tensor(biasType, rounding: [Double](repeating: 0, count: channels)) }
    let inputs = [
      x.id, weights.id, x.zeroID, weights.zeroID, edits.addWeight("\(name)#bias", sums),
      edits.addWeight("\(name)#scale", Weight(Tensor(scales, [scales.count]))), result.zeroID,
    ]
    // A product has no body if the float form of its weights is out of proportion to the file's contents.
    guard
      let body = try? product.body(
        types: inputs.map(edits.type), weights: edits.weight(weights.id), weightsZero: edits.weight(weights.zeroID),
        bias: vector?.weight, scales: scales, output: result, name: core.name)
    else { return }
    let node = Node(name: core.name, op: product.op, inputs: inputs, outputs: [result.id], origins: [], body: body)
    let sources = [[x.node], weights.nodes] + (vector.map { [[$0.node]] } ?? [])
    replace(chain, by: node, absorbing: sources, "integer products, their sums requantized once")
  }
}
