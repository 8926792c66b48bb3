import KelvinGraph

extension Emitter {
  /// `softmax(q · kᵀ * scale + mask) · v` over the last two axes. A boolean mask says which scores count, another is added.
  mutating func attention(
    _ query: ValueID, _ key: ValueID, _ value: ValueID, mask: ValueID?, scale: Float, step: String? = nil
  ) throws -> ValueID {
    let scaled = try unary(UnaryFunction(.affine, a: scale), query, step: "scaled_query")
    var scores = try add(MatMul(transposesY: true), scaled, key, step: "scores")
    if let mask {
      if scalar(mask) == .bool {
        let excluded = constant(-.infinity, scalar(scores), step: "excluded")
        scores = try add(Select(), mask, scores, excluded, step: "masked")
      } else {
        scores = try binary(.add, scores, try cast(mask, to: scalar(scores), step: "mask"), step: "masked")
      }
    }
    let shares = try add(Softmax(axis: shape(scores).rank - 1), scores, step: "shares")
    return try add(MatMul(), shares, value, step: step)
  }

  /// `[N, S, heads * D]` as `[N, heads, S, D]`.
  mutating func splitHeads(_ x: ValueID, _ heads: Int, step: String) throws -> ValueID {
    let sizes = shape(x).dimensions
    guard sizes.count == 3, heads > 0, sizes[2] % heads == 0 else {
      throw invalid("\(type(x)) does not split into \(heads) heads")
    }
    let separate = try reshape(x, [sizes[0], sizes[1], heads, sizes[2] / heads], step: "\(step)_heads")
    return try transpose(separate, [0, 2, 1, 3], step: step)
  }
}
