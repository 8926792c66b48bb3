import KelvinGraph
import KelvinImport

/// Attentions of the domain `com.microsoft` with as many key heads as query heads: ONNX Runtime's
/// `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftAttention: [ONNXMapper] = [
    mergedAttention, quantizedAttention, multiHeadAttention, decoderAttention, packedAttention,
  ]

  /// Computes queries, keys and values by one product of the input.
  private static let mergedAttention = ONNXMapper("com.microsoft.Attention") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    guard c.emitter.shape(x).rank == 3, c.emitter.shape(weights).rank == 2 else {
      throw c.emitter.invalid("expected [N, S, D] and a matrix, got \(c.emitter.type(x)), \(c.emitter.type(weights))")
    }
    let product = try c.emitter.matmul(x, weights, step: "product")
    return try c.mergedAttention(
      c.biased(product, c.optional(2), step: "projected"), mask: c.optional(3), past: c.optional(4),
      bias: c.optional(5))
  }

  /// Attention on integers: the product is that of the dequantized values.
  private static let quantizedAttention = ONNXMapper("com.microsoft.QAttention") { c in
    let x = try c.dequantize(try c.input(0), try c.input(3), c.optional(6), axis: -1, step: "x")
    let weights = try c.dequantize(try c.input(1), try c.input(4), c.optional(7), axis: -1, step: "w")
    guard c.emitter.shape(x).rank == 3, c.emitter.shape(weights).rank == 2 else {
      throw c.emitter.invalid("expected [N, S, D] and a matrix, got \(c.emitter.type(x)), \(c.emitter.type(weights))")
    }
    let product = try c.emitter.add(MatMul(), x, weights, step: "product")
    return try c.mergedAttention(
      c.biased(product, try c.input(2), step: "projected"), mask: c.optional(5), past: c.optional(8), bias: nil)
  }

  /// Attention whose keys and values are packed as heads of one tensor, with or without the queries, or are separate,
  /// or are a cache. If the past length is given, the cache has space after the past keys.
  private static let multiHeadAttention = ONNXMapper("com.microsoft.MultiHeadAttention", valueDependent: [8]) { c in
    guard c.optional(9) == nil else { throw c.unsupported("the order of beams (cache_indirection)") }
    guard !c.wants(3) else { throw c.unsupported("its scores (output qk) are asked for") }
    let operands = try c.headOperands(bias: c.optional(3))
    if let length = try c.constantIntegers(8, "past length")?.first, let keys = c.optional(6),
      let values = c.optional(7)
    {
      return try c.placedAttention(
        operands, in: (keys, values), at: length, mask: c.optional(4), bias: c.optional(5),
        isCausal: c.flag("unidirectional"))
    }
    return try c.cachedAttention(
      operands, past: (c.optional(6), c.optional(7)), mask: c.optional(4), bias: c.optional(5),
      isCausal: c.flag("unidirectional"))
  }

  /// Attention for one step of a decoder. A cache that is written in place has space after the past keys.
  private static let decoderAttention = ONNXMapper(
    "com.microsoft.DecoderMaskedMultiHeadAttention", valueDependent: [7]
  ) { c in
    guard c.optional(9) == nil else { throw c.unsupported("the order of beams (cache_indirection)") }
    guard !c.wants(3), !c.flag("output_qk") else { throw c.unsupported("its scores (output qk) are asked for") }
    let operands = try c.headOperands(bias: c.optional(10))
    guard c.emitter.shape(operands.query)[2] == 1 else {
      throw c.emitter.invalid("expected one query, got \(c.emitter.type(operands.query))")
    }
    let past = (c.optional(5), c.optional(6))
    guard c.flag("past_present_share_buffer") else {
      return try c.cachedAttention(operands, past: past, mask: c.optional(3), bias: c.optional(4), isCausal: false)
    }
    guard let length = try c.constantIntegers(7, "past length")?.first, let keys = past.0, let values = past.1 else {
      throw c.emitter.invalid("has no cache, or not its length")
    }
    return try c.placedAttention(
      operands, in: (keys, values), at: length, mask: c.optional(3), bias: c.optional(4), isCausal: false)
  }
}

/// The operands, each `[N, heads, S, D]`.
struct AttentionOperands {
  var query: ValueID
  var key: ValueID
  var value: ValueID
}

extension ONNXOperation {
  /// Returns the attention of a product `[N, S, …]` of queries, keys and values, and the cache `[2, N, heads, S, D]`.
  fileprivate func mergedAttention(
    _ product: ValueID, mask: ValueID?, past: ValueID?, bias: ValueID?
  ) throws -> [ValueID] {
    guard !flag("do_rotary") else { throw unsupported("rotary embeddings (do_rotary)") }
    guard !flag("past_present_share_buffer") else {
      throw unsupported("a cache that is written in place (past_present_share_buffer)")
    }
    let (heads, width) = (try count("num_heads"), emitter.shape(product)[2])
    let given = integers("qkv_hidden_sizes") ?? []
    guard given.count == 3 || given.isEmpty && width % 3 == 0 else {
      throw emitter.invalid("\(width) columns are not queries, keys and values of \(given)")
    }
    let parts = try emitter.split(
      product, axis: 2, sizes: given.isEmpty ? [Int](repeating: width / 3, count: 3) : given, step: "part")
    let names = ["query", "key", "value"]
    let each = try zip(parts, names).map { try emitter.splitHeads($0, heads, step: $1) }
    var pasts: (ValueID?, ValueID?) = (nil, nil)
    if let past {
      let halves = try halves(of: past)
      pasts = (halves[0], halves[1])
    }
    let results = try cachedAttention(
      AttentionOperands(query: each[0], key: each[1], value: each[2]), past: pasts, mask: mask, bias: bias,
      isCausal: flag("unidirectional"))
    guard wants(1) else { return [results[0]] }
    let pair = try results[1...].enumerated().map { index, cache in
      try emitter.reshape(cache, Shape([1] + emitter.shape(cache).dimensions), step: "cache_\(index)")
    }
    return [results[0], try emitter.concat(pair, axis: 0, step: "present")]
  }

  /// Returns the attention over a cache's first keys and the given ones, which are written after them, and the cache.
  fileprivate func placedAttention(
    _ operands: AttentionOperands, in cache: (keys: ValueID, values: ValueID), at length: Int, mask: ValueID?,
    bias: ValueID?, isCausal: Bool
  ) throws -> [ValueID] {
    let (room, new) = (emitter.shape(cache.keys), emitter.shape(operands.key))
    guard room.rank == 4, new.rank == 4, length >= 0, length <= room[2] - new[2] else {
      throw emitter.invalid("a cache of \(emitter.type(cache.keys)) has no room after \(length) keys")
    }
    let key = try emitter.written(operands.key, into: cache.keys, at: length, step: "key")
    let value = try emitter.written(operands.value, into: cache.values, at: length, step: "value")
    let own = AttentionOperands(query: operands.query, key: key.visible, value: value.visible)
    let result = try attended(own, past: length, mask: mask, bias: bias, isCausal: isCausal)
    return [result, key.whole, value.whole]
  }

  private func halves(of past: ValueID) throws -> [ValueID] {
    let sizes = emitter.shape(past)
    guard sizes.rank == 5, sizes[0] == 2 else {
      throw emitter.invalid("past: expected [2, N, heads, S, D], got \(emitter.type(past))")
    }
    return try emitter.split(past, axis: 0, sizes: [1, 1], step: "past").enumerated().map { index, half in
      try emitter.reshape(half, Shape(Array(sizes.dimensions.dropFirst())), step: "past_heads_\(index)")
    }
  }

  /// Returns the operands of inputs 0 to 2, with their parts of the bias added.
  fileprivate func headOperands(bias: ValueID?) throws -> AttentionOperands {
    let (heads, query) = (try count("num_heads"), try input(0))
    let sizes = emitter.shape(query)
    var parts: [ValueID]
    switch (sizes.rank, optional(1), optional(2)) {
    case (5, nil, nil): parts = try stacked(query, 3)
    case (3, let key?, nil) where emitter.shape(key).rank == 5: parts = [query] + (try stacked(key, 2))
    case (3, let key?, let value?): parts = [query, key, value]
    case (3, nil, nil) where sizes[2] % 3 == 0:
      parts = try emitter.split(query, axis: 2, sizes: [Int](repeating: sizes[2] / 3, count: 3), step: "part")
    default: throw emitter.invalid("queries \(emitter.type(query)) do not match its keys and values")
    }
    let names = ["query", "key", "value"]
    if let bias {
      guard parts.allSatisfy({ emitter.shape($0).rank == 3 }) else {
        throw unsupported("a bias together with a cache of keys and values")
      }
      let widths = parts.map { emitter.shape($0).dimensions.last ?? 0 }
      guard emitter.shape(bias) == [widths.reduce(0, +)] else {
        throw emitter.invalid("a bias of \(emitter.type(bias)) for operands of \(widths)")
      }
      let biases = try emitter.split(bias, axis: 0, sizes: widths, step: "bias")
      for index in parts.indices {
        parts[index] = try emitter.binary(.add, parts[index], biases[index], step: "biased_\(names[index])")
      }
    }
    let each = try zip(parts, names).map { part, name in
      // A cache has a separate axis for heads.
      if name != "query", emitter.shape(part).rank == 4 { return part }
      return try emitter.splitHeads(part, heads, step: name)
    }
    return AttentionOperands(query: each[0], key: each[1], value: each[2])
  }

  /// Returns `[N, S, heads, count, D]` as `count` tensors `[N, S, heads · D]`.
  private func stacked(_ x: ValueID, _ count: Int) throws -> [ValueID] {
    let sizes = emitter.shape(x)
    guard sizes.rank == 5, sizes[3] == count else {
      throw emitter.invalid("expected [N, S, heads, \(count), D], got \(emitter.type(x))")
    }
    return try emitter.split(x, axis: 3, sizes: [Int](repeating: 1, count: count), step: "stacked").enumerated().map {
      try emitter.reshape($1, [sizes[0], sizes[1], sizes[2] * sizes[4]], step: "flat_\($0)")
    }
  }

  /// Returns the attention over past keys and the given ones, and all keys and values.
  fileprivate func cachedAttention(
    _ operands: AttentionOperands, past: (ValueID?, ValueID?), mask: ValueID?, bias: ValueID?, isCausal: Bool
  ) throws -> [ValueID] {
    guard (past.0 == nil) == (past.1 == nil) else {
      throw emitter.invalid("past keys and past values must be given together")
    }
    var all = operands
    var length = 0
    if let keys = past.0, let values = past.1 {
      guard emitter.shape(keys).rank == 4 else {
        throw emitter.invalid("past: expected [N, heads, S, D], got \(emitter.type(keys))")
      }
      length = emitter.shape(keys)[2]
      all.key = try emitter.concat([keys, operands.key], axis: 2, step: "present_keys")
      all.value = try emitter.concat([values, operands.value], axis: 2, step: "present_values")
    }
    let result = try attended(all, past: length, mask: mask, bias: bias, isCausal: isCausal)
    return [result, all.key, all.value]
  }

  /// Returns the result `[N, S, heads · D]`.
  fileprivate func attended(
    _ operands: AttentionOperands, past: Int, mask: ValueID?, bias: ValueID?, isCausal: Bool
  ) throws -> ValueID {
    let (query, key) = (emitter.shape(operands.query), emitter.shape(operands.key))
    guard key.rank == 4, emitter.shape(operands.value).rank == 4, key[1] == query[1], query[3] > 0 else {
      throw emitter.invalid("keys \(emitter.type(operands.key)) for queries \(emitter.type(operands.query))")
    }
    let sizes = ScoreSizes(batch: query[0], heads: query[1], queries: query[2], keys: key[2], past: past)
    let scores = try scoreMask(mask, bias: bias, isCausal: isCausal, sizes, emitter.scalar(operands.query))
    let heads = try emitter.attention(
      operands.query, operands.key, operands.value, mask: scores, scale: attentionScale(query[3]), step: "heads")
    return try emitter.joinHeads(heads)
  }

  /// Returns the factor of the scores; 0 stands for the default.
  func attentionScale(_ width: Int) -> Float {
    let given = float("scale", default: 0)
    return given == 0 ? 1 / Float(width).squareRoot() : given
  }
}

extension Emitter {
  /// Writes new rows into a cache `[N, heads, S, D]` from a position on, and extends it if they reach beyond its end.
  /// Returns the whole cache, and its rows up to the last new one.
  func written(
    _ rows: ValueID, into cache: ValueID, at start: Int, step: String
  ) throws -> (whole: ValueID, visible: ValueID) {
    let (whole, new) = (shape(cache), shape(rows))
    guard whole.rank == 4, new.rank == 4, (0...whole[2]).contains(start) else {
      throw invalid("\(type(rows)) from row \(start) on does not fit a cache of \(type(cache))")
    }
    func part(_ start: Int, _ count: Int, _ name: String) throws -> [ValueID] {
      guard count > 0 else { return [] }
      return [try slice(cache, axis: 2, SliceRange(start: start, count: count), step: "\(step)_\(name)")]
    }
    let before = try part(0, start, "before")
    let behind = try part(start + new[2], whole[2] - start - new[2], "behind")
    let visible = before.isEmpty ? rows : try concat(before + [rows], axis: 2, step: "\(step)_visible")
    return (behind.isEmpty ? visible : try concat([visible] + behind, axis: 2, step: "\(step)_whole"), visible)
  }
}
