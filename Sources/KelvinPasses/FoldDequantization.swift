package import KelvinGraph

/// Turns the remaining dequantized constants into linearly quantized weights, which stay compressed until a device
/// packs them.
///
/// Integers wider than 8 bits, and scales that `AffineWeight` does not support, are left to constant folding.
package struct FoldDequantization: Pass {
  package static let name = "fold dequantization"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for (index, node) in graph.nodes.enumerated() {
      guard let op = node.op as? Dequantize, !edits.isOutput(node.outputs[0]),
        let data = edits.weight(node.inputs[0]), data.type.scalar.isByte, let scale = edits.weight(node.inputs[1]),
        scale.type.scalar == op.scalar, op.scalar != .float64, let zero = edits.weight(node.inputs[2]),
        let blocks = op.axis.blocks(data.type.shape),
        let weight = try? Weight(affine: data, scale: scale.viewed(as: blocks), offset: zero.viewed(as: blocks))
      else { continue }
      edits.remove(index, replacement: edits.addWeight("\(graph[node.outputs[0]].name)#affine", weight))
      edits.note(node.origins, "a constant kept in 8 bits until it is packed", isRemoval: true)
    }
    return edits.finish()
  }
}

extension QuantizationAxis {
  /// Returns the parameters' shape with one size for each axis of a tensor, or nil if a block does not divide its axis.
  fileprivate func blocks(_ shape: Shape) -> Shape? {
    var sizes = [Int](repeating: 1, count: shape.rank)
    guard let axis else { return Shape(sizes) }
    guard shape[axis] % blockSize == 0 else { return nil }
    if blockSize > 1 { sizes = shape.dimensions }
    sizes[axis] = shape[axis] / blockSize
    return Shape(sizes)
  }
}

extension Weight {
  /// Returns the same elements in another shape.
  func viewed(as shape: Shape) -> Weight {
    if shape == type.shape { return self }
    return Weight(TensorType(type.scalar, shape), from: [self]) { dense().reshaped(to: shape) }
  }
}
