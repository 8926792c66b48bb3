package import KelvinGraph

/// The stages in the computation of an attention's scores.
package enum ScoreStage { case products, capped, masked, shares }

extension Emitter {
  /// `softmax(q · kᵀ * scale + mask) · v` over the last two axes. A boolean mask selects the scores that count, any
  /// other mask is added. A query whose mask excludes all keys yields zeros.
  package func attention(
    _ query: ValueID, _ key: ValueID, _ value: ValueID, mask: ValueID?, scale: Float, step: String? = nil
  ) throws -> ValueID {
    try attention(query, key, value, mask: mask, scale: scale, softCap: 0, step: step).result
  }

  /// Emits an attention whose scores become `cap · tanh(s / cap)` before the mask, unless the cap is 0.
  ///
  /// - Parameters:
  ///   - sink: An additional score of each head, without a value; it broadcasts to a column.
  ///   - stage: The stage of the scores to return as well.
  package func attention(
    _ query: ValueID, _ key: ValueID, _ value: ValueID, mask: ValueID?, scale: Float, softCap: Float,
    sink: ValueID? = nil, keeping stage: ScoreStage? = nil, step: String? = nil
  ) throws -> (result: ValueID, scores: ValueID?) {
    let scaled = try unary(UnaryFunction(.affine, a: scale), query, step: "scaled_query")
    var scores = try add(MatMul(transposesY: true), scaled, key, step: "scores")
    var kept: [ScoreStage: ValueID] = [.products: scores]
    if softCap != 0 {
      scores = try unary(UnaryFunction(.scaledTanh, a: softCap, b: 1 / softCap), scores, step: "capped_scores")
    }
    kept[.capped] = scores
    let scalar = scalar(scores)
    var hidden: ValueID?
    if let mask {
      let bias = self.scalar(mask) == .bool ? mask : try cast(mask, to: scalar, step: "mask")
      if self.scalar(mask) == .bool {
        scores = try add(Select(), mask, scores, constant(-.infinity, scalar, step: "excluded"), step: "masked")
      } else {
        scores = try binary(.add, scores, bias, step: "masked")
      }
      if mayHideRow(mask) { hidden = bias }
    }
    kept[.masked] = scores
    var shares = try self.shares(of: scores, beside: sink, step: hidden == nil ? "shares" : "all_shares")
    if let hidden {
      let none = constant(0, scalar, step: "no_share")
      shares = try add(Select(), try visible(hidden), shares, none, step: "shares")
    }
    kept[.shares] = shares
    return (try add(MatMul(), shares, value, step: step), stage.flatMap { kept[$0] })
  }

  /// Returns the softmax along the last axis of the scores and, if there is a sink, of one more score per row.
  private func shares(of scores: ValueID, beside sink: ValueID?, step: String) throws -> ValueID {
    let (sizes, last) = (shape(scores), shape(scores).rank - 1)
    guard let sink else { return try add(Softmax(axis: last), scores, step: step) }
    let column = try add(
      Expand(Shape(sizes.dimensions.dropLast() + [1])), cast(sink, to: scalar(scores), step: "sink"), step: "sinks")
    let all = try concat([scores, column], axis: last, step: "scores_and_sinks")
    let shares = try add(Softmax(axis: last), all, step: "shares_and_sinks")
    return try slice(shares, sizes.dimensions.map { SliceRange(start: 0, count: $0) }, step: step)
  }

  /// Returns booleans that broadcast to the scores; a row that the mask excludes completely is false.
  private func visible(_ mask: ValueID) throws -> ValueID {
    if scalar(mask) == .bool { return mask }
    let rank = shape(mask).rank
    let hidden = constant(-.infinity, scalar(mask), step: "hidden")
    guard rank > 0 else { return try add(Compare(.notEqual), mask, hidden, step: "visible") }
    let largest = try add(Reduce(.maximum, axes: [rank - 1], keepsDimensions: true), mask, step: "largest_bias")
    return try add(Compare(.notEqual), largest, hidden, step: "visible")
  }

  /// Whether a mask may exclude a whole row of scores; false only if the mask is a constant that does not.
  private func mayHideRow(_ mask: ValueID) -> Bool {
    guard let weight = weight(mask), let length = weight.type.shape.dimensions.last, length > 0,
      weight.type.count <= Self.readableMask
    else { return true }
    let isTruth = weight.type.scalar == .bool
    let values = weight.dense().floats
    return stride(from: 0, to: values.count, by: length).contains { row in
      values[row..<(row + length)].allSatisfy { isTruth ? $0 == 0 : $0 == -.infinity }
    }
  }

  /// The greatest number of elements of a mask that are examined while the graph is built.
  private static let readableMask = 1 << 22

  /// Reshapes `[N, S, heads * D]` to `[N, heads, S, D]`.
  package func splitHeads(_ x: ValueID, _ heads: Int, step: String) throws -> ValueID {
    let sizes = shape(x).dimensions
    guard sizes.count == 3, heads > 0, sizes[2] % heads == 0 else {
      throw invalid("\(type(x)) does not split into \(heads) heads")
    }
    let separate = try reshape(x, [sizes[0], sizes[1], heads, sizes[2] / heads], step: "\(step)_heads")
    return try transpose(separate, [0, 2, 1, 3], step: step)
  }

  /// Reshapes `[N, heads, S, D]` to `[N, S, heads * D]`.
  package func joinHeads(_ x: ValueID, step: String? = nil) throws -> ValueID {
    let joined = try transpose(x, [0, 2, 1, 3], step: "joined")
    let sizes = shape(joined)
    return try reshape(joined, [sizes[0], sizes[1], sizes[2] * sizes[3]], step: step)
  }

  /// Repeats the heads of `[N, heads, S, D]` up to a count; copies of a head are adjacent.
  package func repeatHeads(_ x: ValueID, _ count: Int, step: String) throws -> ValueID {
    let sizes = shape(x)
    if sizes[1] == count { return x }
    guard sizes[1] > 0, count % sizes[1] == 0 else { throw invalid("\(type(x)) for \(count) heads") }
    let separate = try reshape(x, [sizes[0], sizes[1], 1, sizes[2], sizes[3]], step: "\(step)_separate")
    let repeated = try add(
      Expand([sizes[0], sizes[1], count / sizes[1], sizes[2], sizes[3]]), separate, step: "\(step)_repeated")
    return try reshape(repeated, [sizes[0], count, sizes[2], sizes[3]], step: step)
  }
}
