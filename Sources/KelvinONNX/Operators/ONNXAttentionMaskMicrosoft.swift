import KelvinGraph
import KelvinImport

/// The sizes of an attention's scores, `[batch, heads, queries, keys]`, and how many of the keys lie before the queries' own.
struct ScoreSizes {
  var batch: Int
  var heads: Int
  var queries: Int
  var keys: Int
  var past: Int

  var shape: Shape { [batch, heads, queries, keys] }
}

/// Masks of the attentions of `com.microsoft`: ONNX Runtime's `ContribOperators.md`, and its kernels where that leaves
/// open how masks of several kinds meet.
extension ONNXOperation {
  /// What hides scores: padding by `mask_filter_value` being added, which is a finite number, so that a row of padding
  /// alone has shares; a bias, which is added as it is; and the order of keys, which leaves no share.
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

  /// A mask that is added, but where places are not allowed; the places themselves without one.
  func placed(_ added: ValueID?, _ allowed: ValueID) throws -> ValueID {
    guard let added else { return allowed }
    let excluded = emitter.constant(-.infinity, emitter.scalar(added), step: "out_of_place")
    return try emitter.add(Select(), allowed, added, excluded, step: "placed_mask")
  }

  /// Truth values by place, `[queries, keys]`.
  func placeMask(
    _ sizes: ScoreSizes, _ isAllowed: @escaping @Sendable (_ query: Int, _ key: Int) -> Bool
  ) throws -> ValueID {
    let (queries, keys) = (sizes.queries, sizes.keys)
    return try emitter.table(.bool, [queries, keys], step: "in_place") {
      (0..<queries).flatMap { query in (0..<keys).map { isAllowed(query, $0) ? 1 : 0 } }
    }
  }

  /// 0 for keys that count and the filter's value for others. The mask says so for each key of a sample, of each query,
  /// or of all places there may ever be, or it has the ends of what counts, perhaps followed by the starts.
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

  /// Whether a key lies before the end of its sample, and from the start on where the mask has as many of those. Behind
  /// one and two more for each sample come the same lengths again, added up.
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
