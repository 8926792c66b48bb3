import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Attention with a cache, in which each key head serves several query heads: ONNX Runtime's `ContribOperators.md`.
  ///
  /// The cache grows by the new keys, or has space for all future keys; `total_sequence_length` is the number of valid
  /// keys. If that input is omitted (`ONNXDecomposition`), attention covers the whole cache, and the lengths exclude
  /// unwritten rows.
  static let groupQueryAttention = ONNXMapper("com.microsoft.GroupQueryAttention", valueDependent: [6]) { c in
    try c.checkCacheKind()
    var operands = try c.groupedOperands()
    let cache = try c.groupCache(operands)
    if let (query, key) = try c.normalized(operands) { (operands.query, operands.key) = (query, key) }
    if c.flag("do_rotary") {
      let places = try c.places(cache)
      let (cosines, sines) = (
        try c.emitter.rows(of: try c.input(7), at: places, step: "cosines"),
        try c.emitter.rows(of: try c.input(8), at: places, step: "sines")
      )
      let width = 2 * c.emitter.shape(cosines)[3]
      func turned(_ x: ValueID, _ name: String) throws -> ValueID {
        try c.emitter.rotate(
          x, cosines: cosines, sines: sines, width: width, isInterleaved: c.flag("rotary_interleaved"))
      }
      operands.query = try turned(operands.query, "query")
      operands.key = try turned(operands.key, "key")
    }
    let key = try c.cached(operands.key, c.optional(3), cache, step: "key")
    let value = try c.cached(operands.value, c.optional(4), cache, step: "value")
    let query = c.emitter.shape(operands.query)
    let sizes = ScoreSizes(batch: query[0], heads: query[1], queries: query[2], keys: cache.total, past: cache.past)
    let heads = try c.emitter.attention(
      operands.query, c.emitter.repeatHeads(key.visible, query[1], step: "keys"),
      c.emitter.repeatHeads(value.visible, query[1], step: "values"), mask: c.groupMask(cache, sizes),
      scale: c.attentionScale(query[3]), softCap: c.float("softcap", default: 0), sink: c.sink(heads: query[1]),
      keeping: c.scoresAskedFor(), step: "heads")
    return [try c.emitter.joinHeads(heads.result), key.whole, value.whole]
      + (try heads.scores.map { [try c.emitter.zeroed($0, where: -.infinity)] } ?? [])
  }
}

extension Emitter {
  /// Returns scores with 0 in place of excluded ones, as ONNX Runtime outputs them.
  fileprivate func zeroed(_ scores: ValueID, where excluded: Double) throws -> ValueID {
    let isOut = try add(
      Compare(.equal), scores, constant(excluded, scalar(scores), step: "excluded_score"), step: "is_excluded")
    return try add(Select(), isOut, constant(0, scalar(scores), step: "no_score"), scores, step: "shown_scores")
  }
}

/// The positions of new keys in a cache.
private struct GroupCache {
  /// The number of keys, including the new ones.
  var total: Int
  /// The number of keys before the new ones; that of the longest sample if samples differ.
  var past: Int
  /// The number of keys before the new ones for each sample, `[N, 1]`, int64, if samples may differ.
  var pasts: ValueID?
  var queries: Int
  /// The number of rows of the output cache.
  var rows: Int

  /// Whether the new keys are the first of all samples; some of them may be padding after a sample's end.
  var isFirst: Bool { pasts == nil && total == queries }
}

extension ONNXOperation {
  fileprivate func checkCacheKind() throws {
    for name in ["k_quant_type", "v_quant_type"] where text(name, default: "NONE") != "NONE" {
      throw unsupported("a quantized cache (\(name))")
    }
    guard optional(12) == nil, optional(13) == nil else { throw unsupported("a quantized cache (k_scale, v_scale)") }
    guard !flag("sliding_window_cache") else { throw unsupported("a cache as long as a window (sliding_window_cache)") }
  }

  /// Returns the stage of the scores that the fourth output shows, or nil without that output.
  fileprivate func scoresAskedFor() throws -> ScoreStage? {
    guard wants(3) else { return nil }
    switch integer("qk_output", default: 0) {
    case 1: return .masked
    case 2: return .shares
    case let other: throw emitter.invalid("its fourth output is asked for, and qk_output is \(other), expected 1 or 2")
    }
  }

  /// Returns the operands. Keys and values may be packed with the queries.
  fileprivate func groupedOperands() throws -> AttentionOperands {
    let (heads, shared, query) = (try count("num_heads"), try count("kv_num_heads"), try input(0))
    let sizes = emitter.shape(query)
    guard sizes.rank == 3, heads % shared == 0 else {
      throw emitter.invalid("queries \(emitter.type(query)) of \(heads) heads, keys of \(shared)")
    }
    var parts: [ValueID]
    if let key = optional(1) {
      parts = [query, key, try input(2)]
    } else {
      guard optional(2) == nil, sizes[2] % (heads + 2 * shared) == 0 else {
        throw emitter.invalid("queries \(emitter.type(query)) are not \(heads) heads and twice \(shared)")
      }
      let width = sizes[2] / (heads + 2 * shared)
      parts = try emitter.split(
        query, axis: 2, sizes: [heads * width, shared * width, shared * width], step: "part")
    }
    let each = try zip(parts, [("query", heads), ("key", shared), ("value", shared)]).map {
      try emitter.splitHeads($0, $1.1, step: $1.0)
    }
    let (q, k, v) = (emitter.shape(each[0]), emitter.shape(each[1]), emitter.shape(each[2]))
    guard k[0] == q[0], k[2] == q[2], k[3] == q[3], q[3] > 0, v[0] == q[0], v[2] == q[2] else {
      throw emitter.invalid("keys \(emitter.type(each[1])) for queries \(emitter.type(each[0]))")
    }
    return AttentionOperands(query: each[0], key: each[1], value: each[2])
  }

  fileprivate func groupCache(_ operands: AttentionOperands) throws -> GroupCache {
    let (sizes, lengths) = (emitter.shape(operands.query), try input(5))
    let given = try constantIntegers(6, "total_sequence_length")?.first
    var rows = 0
    for (index, new) in [(3, operands.key), (4, operands.value)] {
      guard let past = optional(index) else { continue }
      let (own, fitting) = (emitter.shape(past), emitter.shape(new))
      guard own.rank == 4, own[0] == fitting[0], own[1] == fitting[1], own[3] == fitting[3] else {
        throw emitter.invalid("past \(emitter.type(past)) before \(emitter.type(new))")
      }
      rows = own[2]
    }
    guard (optional(3) == nil) == (optional(4) == nil) else {
      throw emitter.invalid("past keys and past values must be given together")
    }
    let total = given ?? rows
    guard (0..<(1 << 31)).contains(total), total >= sizes[2], emitter.shape(lengths).count == sizes[0] else {
      throw emitter.invalid("its total length is less than the number of queries, or lengths are missing")
    }
    var cache = GroupCache(
      total: total, past: total - sizes[2], pasts: nil, queries: sizes[2], rows: max(rows, total))
    guard cache.past <= rows else {
      throw emitter.invalid("\(total) keys in total, but \(sizes[2]) are new and \(rows) are past")
    }
    guard given == nil || sizes[0] > 1 && !cache.isFirst else { return cache }
    let wide = try emitter.reshape(emitter.cast(lengths, to: .int64, step: "lengths"), [sizes[0], 1], step: "column")
    cache.pasts = try emitter.binary(
      .add, wide, emitter.constant(Double(1 - sizes[2]), .int64, step: "end_to_past"), step: "past_lengths")
    return cache
  }

  /// Returns queries and keys, each head divided by its root mean square, if the operator has scales for this.
  fileprivate func normalized(_ operands: AttentionOperands) throws -> (query: ValueID, key: ValueID)? {
    guard let queryScale = optional(14), let keyScale = optional(15) else {
      guard optional(14) == nil, optional(15) == nil else {
        throw emitter.invalid("norms of queries and of keys must be given together")
      }
      return nil
    }
    let epsilon = float("qk_norm_epsilon", default: 1e-6)
    func normal(_ x: ValueID, _ scale: ValueID) throws -> ValueID {
      guard emitter.shape(scale) == [emitter.shape(x)[3]] else {
        throw emitter.invalid("a norm of \(emitter.type(scale)) for heads \(emitter.type(x))")
      }
      return try emitter.rootMeanSquareNormalize(x, axes: [3], epsilon: epsilon, scale: scale)
    }
    return (try normal(operands.query, queryScale), try normal(operands.key, keyScale))
  }

  /// Returns the position of each new key, `[N or 1, S]`. For first keys, only the first of the given positions is
  /// used, and the others count from it.
  fileprivate func places(_ cache: GroupCache) throws -> ValueID {
    let queries = cache.queries
    func steps(from start: Int) throws -> ValueID {
      try emitter.table(.int64, [1, queries], step: "steps") { (0..<queries).map { Double(start + $0) } }
    }
    if let given = optional(9) {
      guard emitter.shape(given).rank == 2, emitter.shape(given).count > 0 else {
        throw emitter.invalid("positions \(emitter.type(given)), expected [N, S]")
      }
      guard cache.isFirst else { return given }
      let one = SliceRange(start: 0, count: 1)
      let first = try emitter.cast(emitter.slice(given, [one, one], step: "first"), to: .int64, step: "first_place")
      return try emitter.binary(.add, steps(from: 0), first, step: "places")
    }
    guard let pasts = cache.pasts else { return try steps(from: cache.past) }
    return try emitter.binary(.add, steps(from: 0), pasts, step: "places")
  }

  /// Returns the cache with the new rows, and its visible part.
  fileprivate func cached(
    _ new: ValueID, _ past: ValueID?, _ cache: GroupCache, step: String
  ) throws -> (whole: ValueID, visible: ValueID) {
    guard let past else { return (new, new) }
    guard let pasts = cache.pasts else {
      return try emitter.written(new, into: past, at: cache.past, step: step)
    }
    let (sizes, missing) = (emitter.shape(new), cache.rows - emitter.shape(past)[2])
    let room = try emitter.pad(
      past, before: [0, 0, 0, 0], after: [0, 0, missing, 0], mode: .constant(0), step: "\(step)_room")
    let steps = try emitter.table(.int64, [1, sizes[2]], step: "\(step)_steps") { (0..<sizes[2]).map(Double.init) }
    let rows = try emitter.reshape(
      emitter.binary(.add, steps, pasts, step: "\(step)_row_vector"), [sizes[0], 1, sizes[2], 1], step: "\(step)_rows")
    let places = try emitter.add(Expand(sizes), rows, step: "\(step)_places")
    let whole = try emitter.add(
      ScatterElements(axis: 2, reduction: .replace), room, places, new, step: "\(step)_cache")
    let visible = SliceRange(start: 0, count: cache.total)
    return (whole, try emitter.slice(whole, axis: 2, visible, step: "\(step)_visible"))
  }

  /// Returns the mask of scores: keys up to a query's own position, or of its sample, and in a window if there is one.
  fileprivate func groupMask(_ cache: GroupCache, _ sizes: ScoreSizes) throws -> ValueID? {
    let (window, isCausal) = (integer("local_window_size", default: -1), flag("causal", default: true))
    guard isCausal || window <= 0 else { throw emitter.invalid("a window over keys without an order") }
    let bias = try scoreMask(nil, bias: optional(10), isCausal: false, sizes, .float32)
    /// The distance before the query's own position at which the window begins.
    let reach = window > 0 ? min(window - 1, Int(Int32.max)) : Int(Int32.max)
    guard let pasts = cache.pasts else {
      let past = cache.past
      guard isCausal else {
        guard sizes.batch > 1 else { return bias }
        return try placed(bias, isBefore(try emitter.cast(try input(5), to: .int64, step: "lengths"), sizes))
      }
      guard sizes.queries > 1 || reach < past else { return bias }
      return try placed(bias, placeMask(sizes) { query, key in (-reach...0).contains(key - query - past) })
    }
    guard isCausal else {
      return try placed(bias, isBefore(try emitter.cast(try input(5), to: .int64, step: "lengths"), sizes))
    }
    let (queries, keys) = (sizes.queries, sizes.keys)
    let distances = try emitter.table(.int64, [queries, keys], step: "distances") {
      (0..<queries).flatMap { query in (0..<keys).map { Double($0 - query) } }
    }
    let limits = try emitter.reshape(pasts, [sizes.batch, 1, 1, 1], step: "limits")
    var allowed = try emitter.add(Compare(.lessOrEqual), distances, limits, step: "is_past")
    if window > 0 {
      let first = try emitter.binary(
        .subtract, limits, emitter.constant(Double(reach), .int64, step: "reach"), step: "first_of_window")
      let isNear = try emitter.add(Compare(.greaterOrEqual), distances, first, step: "is_near")
      allowed = try emitter.binary(.logicalAnd, allowed, isNear, step: "is_visible")
    }
    return try placed(bias, allowed)
  }

  /// Returns whether a key is not padding after the last key of its sample.
  private func isBefore(_ last: ValueID, _ sizes: ScoreSizes) throws -> ValueID {
    let columns = try emitter.table(.int64, [sizes.keys], step: "columns") { [keys = sizes.keys] in
      (0..<keys).map(Double.init)
    }
    let limits = try emitter.reshape(last, [sizes.batch, 1, 1, 1], step: "last_keys")
    return try emitter.add(Compare(.lessOrEqual), columns, limits, step: "is_key")
  }

  /// Returns a score of each head that takes part in the softmax without a value.
  fileprivate func sink(heads: Int) throws -> ValueID? {
    if let given = optional(11) {
      guard emitter.shape(given) == [heads] else {
        throw emitter.invalid("head_sink is \(emitter.type(given)) for \(heads) heads")
      }
      return try emitter.reshape(given, [1, heads, 1, 1], step: "head_sink")
    }
    guard integer("smooth_softmax", default: 0) == 1 else { return nil }
    return emitter.constant(0, .float32, step: "smooth_sink")
  }
}
