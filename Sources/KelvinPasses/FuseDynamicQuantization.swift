package import KelvinGraph

/// Replaces dynamic quantization, an integer product with constant weights and the product with both scales by a
/// `LinearInteger`. Later passes add the bias, the residual and the activation.
package struct FuseDynamicQuantization: Pass {
  package static let name = "fuse dynamic quantization"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), (node.op as? Binary)?.function == .multiply,
        let candidate = DynamicProduct(node, edits)
      else { continue }
      try candidate.replace(node, at: index, &edits)
    }
    return edits.finish()
  }
}

/// A product of integers, converted to float32 and multiplied by a product of two scales.
private struct DynamicProduct {
  private let product: Node
  private let transposesY: Bool
  private let x: ValueID
  private let scale: ValueID

  /// - Returns: Nil if the node differs, or if other nodes read the sums, which would then be computed twice.
  init?(_ node: Node, _ edits: GraphEdits) {
    func producer(_ id: ValueID) -> Node? { edits.producer(of: id).flatMap(edits.node) }
    for (sums, scales) in [(node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])] {
      guard let cast = producer(sums), (cast.op as? Cast)?.scalar == .float32, let product = producer(cast.inputs[0]),
        let op = product.op as? MatMulInteger, op.requantization == nil, edits.onlyConsumer(of: sums) != nil,
        edits.onlyConsumer(of: product.outputs[0]) != nil, let quantize = producer(product.inputs[0]),
        (quantize.op as? Quantize)?.scalar == .uint8, let factors = producer(scales),
        (factors.op as? Binary)?.function == .multiply,
        let scale = factors.inputs.first(where: { edits.weight($0) != nil })
      else { continue }
      (self.product, transposesY, x, self.scale) = (product, op.transposesY, quantize.inputs[0], scale)
      return
    }
    return nil
  }

  /// Replaces the node of the scaled product, if the nodes before it are those of a `LinearInteger`.
  func replace(_ node: Node, at index: Int, _ edits: inout GraphEdits) throws(GraphError) {
    let (y, zero) = (product.inputs[1], product.inputs[3])
    guard let weights = edits.weight(y), let zeros = edits.weight(zero), let scales = edits.weight(scale),
      weights.type.shape.rank == 2
    else { return }
    // Scales along rows are as many as those along columns if the result is square.
    guard scales.type.count == 1 || scales.type.shape.dimensions.last == scales.type.count else { return }
    let given = [x, y, scale, zero]
    var template = Graph(bodyOf: given.map(edits.type))
    guard
      let output = try? LinearInteger.appendProduct(to: &template, template.inputs, areRows: transposesY),
      template[output].type == edits.type(node.outputs[0])
    else { return }
    template.outputs = [output]
    guard let match = TemplateMatch(node.outputs[0], template, inputs: given, edits) else { return }

    let columns = weights.type.shape[transposesY ? 0 : 1]
    var inputs = given
    if !transposesY { inputs[1] = edits.addWeight("\(product.name)#transposed_weights", weights.transposed([1, 0])) }
    for (place, weight) in [(2, scales), (3, zeros)] where !weight.type.shape.isParameter(of: columns) {
      inputs[place] = edits.addWeight("\(product.name)#parameter\(place)", weight.viewed(as: [weight.type.count]))
    }
    let types = inputs.map(edits.type)
    let op = LinearInteger()
    guard let inferred = try? op.infer(types), inferred == [edits.type(node.outputs[0])] else { return }
    var fused = try Node.decomposable(
      name: product.name, op: op, inputs: inputs, types: types, output: node.outputs[0], origins: [])
    edits.rewrite(index, fused)
    // Other products may read the quantized rows.
    var origins = node.origins
    for place in match.nodes.sorted(by: >) where place != index {
      guard let absorbed = edits.node(place), !edits.isRead(absorbed.outputs[0], besides: []) else { continue }
      if absorbed.outputs != product.outputs { origins = absorbed.origins + origins }
      edits.remove(place)
    }
    fused.origins = (product.origins + origins).joiningEqualOnes
    edits.rewrite(index, fused)
    edits.note(fused.origins, "rows are quantized while they are packed, and their products scaled at once")
  }
}
