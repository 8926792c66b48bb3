import KelvinGraph
import KelvinImport

/// The sizes of an attention's scores, `[batch, heads, queries, keys]`, and the number of keys before the queries' own.
struct ScoreSizes {
  var batch: Int
  var heads: Int
  var queries: Int
  var keys: Int
  var past: Int

  var shape: Shape { [batch, heads, queries, keys] }
}

/// Masks of the attentions of `com.microsoft`: ONNX Runtime's `ContribOperators.md`, and its kernels for combinations
/// of several masks that the document leaves open.
extension ONNXOperation {
  /// Returns the mask of the scores. Padding adds `mask_filter_value`, a finite number, so that softmax of a row of
  /// padding is defined. A bias is added as it is. The causal order excludes scores.
  func scoreMask(
    _ padding: ValueID?, bias: ValueID?, isCausal: Bool, _ sizes: ScoreSizes, _ scalar: ScalarType
  ) throws -> ValueID? {
    var added = try padding.flatMap { try paddingMask($0, sizes, scalar) }
    if let bias {
      guard sizes.shape.broadcast(with: emitter.shape(bias)) == sizes.shape else {
        throw emitter.invalid("attention_bias is \(emitter.type(bias)), the scores are \(sizes.shape)")
      }
      added = try added.map { try emitter.binary(.add, $0, bias, step: "padding_and_bias") } ?? bias
    }
    guard isCausal, sizes.queries > 1 else { return added }
    let past = sizes.past
    let order = try placeMask(sizes) { query, key in key <= query + past }
    return try placed(added, order)
  }

  /// Returns an additive mask in which positions that are not allowed are excluded; without an additive mask, the
  /// allowed positions.
  func placed(_ added: ValueID?, _ allowed: ValueID) throws -> ValueID {
    guard let added else { return allowed }
    let excluded = emitter.constant(-.infinity, emitter.scalar(added), step: "out_of_place")
    return try emitter.add(Select(), allowed, added, excluded, step: "placed_mask")
  }

  /// Returns booleans by position, `[queries, keys]`.
  func placeMask(
    _ sizes: ScoreSizes, _ isAllowed: @escaping @Sendable (_ query: Int, _ key: Int) -> Bool
  ) throws -> ValueID {
    let (queries, keys) = (sizes.queries, sizes.keys)
    return try emitter.table(.bool, [queries, keys], step: "in_place") {
      (0..<queries).flatMap { query in (0..<keys).map { isAllowed(query, $0) ? 1 : 0 } }
    }
  }

  /// Returns 0 for keys that count and the filter's value for others. The mask has a flag for each key of a sample, of
  /// each query, or of all possible positions. Alternatively it has the end of each sample, optionally followed by the
  /// start.
  private func paddingMask(_ mask: ValueID, _ sizes: ScoreSizes, _ scalar: ScalarType) throws -> ValueID? {
    let (batch, shape) = (sizes.batch, emitter.shape(mask))
    let kept: ValueID
    switch shape.rank {
    case 1 where [batch, 2 * batch, 3 * batch + 2].contains(shape[0]):
      kept = try keptRange(mask, sizes)
    case 2 where shape == [batch, sizes.keys]:
      kept = try emitter.reshape(isKept(mask), [batch, 1, 1, sizes.keys], step: "kept_keys")
    case 2 where shape[1] == 1 && (shape[0] == 1 || shape[0] == batch):
      // Stands for no mask.
      return nil
    case 3 where shape == [batch, sizes.queries, sizes.keys]:
      kept = try emitter.reshape(isKept(mask), [batch, 1, sizes.queries, sizes.keys], step: "kept_scores")
    case 4 where shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] && shape[3] >= sizes.keys:
      guard sizes.past + sizes.queries <= shape[2] else { fallthrough }
      kept = try emitter.slice(
        isKept(mask),
        [
          SliceRange(start: 0, count: batch), SliceRange(start: 0, count: 1),
          SliceRange(start: sizes.past, count: sizes.queries), SliceRange(start: 0, count: sizes.keys),
        ], step: "kept_scores")
    default:
      throw emitter.invalid("a mask of \(emitter.type(mask)) for scores \(sizes.shape)")
    }
    let none = emitter.constant(0, scalar, step: "no_filter")
    let filter = emitter.constant(Double(float("mask_filter_value", default: -10000)), scalar, step: "filter")
    return try emitter.add(Select(), kept, none, filter, step: "padding")
  }

  private func isKept(_ mask: ValueID) throws -> ValueID {
    let scalar = emitter.scalar(mask)
    if scalar == .bool { return mask }
    return try emitter.add(Compare(.greater), mask, emitter.constant(0, scalar, step: "zero"), step: "is_kept")
  }

  /// Returns whether a key lies before the end of its sample and, if the mask holds starts, not before its start. In a
  /// mask of `3 · batch + 2` elements, cumulative lengths follow the lengths.
  private func keptRange(_ mask: ValueID, _ sizes: ScoreSizes) throws -> ValueID {
    let (batch, scalar) = (sizes.batch, emitter.scalar(mask))
    let columns = try emitter.table(scalar, [sizes.keys], step: "columns") { [keys = sizes.keys] in
      (0..<keys).map(Double.init)
    }
    func bound(_ part: Int, _ name: String) throws -> ValueID {
      let values = try emitter.slice(mask, [SliceRange(start: part * batch, count: batch)], step: "\(name)_vector")
      return try emitter.reshape(values, [batch, 1, 1, 1], step: name)
    }
    let isBefore = try emitter.add(Compare(.less), columns, bound(0, "ends"), step: "is_before_end")
    guard emitter.shape(mask)[0] == 2 * batch else { return isBefore }
    let isBehind = try emitter.add(Compare(.greaterOrEqual), columns, bound(1, "starts"), step: "is_behind_start")
    return try emitter.binary(.logicalAnd, isBefore, isBehind, step: "is_between")
  }
}
