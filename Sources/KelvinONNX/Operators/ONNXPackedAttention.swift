import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Attention over the tokens of all samples, concatenated without padding: ONNX Runtime's `ContribOperators.md`. The
  /// tokens are scattered to a padded batch, and the results are gathered from it.
  static let packedAttention = ONNXMapper("com.microsoft.PackedMultiHeadAttention") { c in
    let heads = try c.count("num_heads")
    var parts = try c.packedOperands(heads)
    let (offsets, cumulative) = (try c.input(4), try c.input(5))
    let batch = c.emitter.shape(offsets)
    let tokens = c.emitter.shape(parts[0])[0]
    guard batch.rank == 2, batch.count >= tokens, c.emitter.shape(cumulative) == [batch[0] + 1] else {
      throw c.emitter.invalid(
        "\(tokens) tokens at positions \(c.emitter.type(offsets)), counted by \(c.emitter.type(cumulative))")
    }
    let flat = try c.emitter.reshape(offsets, [batch.count], step: "flat_offsets")
    let places = try c.emitter.reshape(
      c.emitter.slice(flat, [SliceRange(start: 0, count: tokens)], step: "token_offsets"), [tokens, 1], step: "places")
    for (index, name) in ["query", "key", "value"].enumerated() {
      let (part, width) = (parts[index], c.emitter.shape(parts[index])[1])
      guard Shape([batch.count, width]).isAddressable else {
        throw c.emitter.invalid("\(batch.count) positions of \(width) are too many")
      }
      let nothing = c.emitter.zeros(TensorType(c.emitter.scalar(part), [batch.count, width]), step: "\(name)_padding")
      let rows = try c.emitter.add(ScatterND(), nothing, places, part, step: "\(name)_rows")
      let padded = try c.emitter.reshape(rows, [batch[0], batch[1], width], step: "padded_\(name)")
      parts[index] = try c.emitter.splitHeads(padded, heads, step: name)
    }
    let query = c.emitter.shape(parts[0])
    let sizes = ScoreSizes(batch: batch[0], heads: heads, queries: batch[1], keys: batch[1], past: 0)
    let bias = try c.scoreMask(nil, bias: c.optional(6), isCausal: false, sizes, c.emitter.scalar(parts[0]))
    let mask = try c.placed(bias, c.isToken(cumulative, batch: batch[0], keys: batch[1]))
    let result = try c.emitter.joinHeads(
      c.emitter.attention(
        parts[0], parts[1], parts[2], mask: mask, scale: c.attentionScale(query[3]), step: "heads"), step: "padded")
    let rows = try c.emitter.reshape(result, [batch.count, c.emitter.shape(result)[2]], step: "rows")
    return [try c.emitter.add(GatherND(), rows, places)]
  }
}

extension ONNXOperation {
  /// Returns queries, keys and values `[tokens, heads · D]`, with their parts of the bias added.
  fileprivate func packedOperands(_ heads: Int) throws -> [ValueID] {
    let query = try input(0)
    let sizes = emitter.shape(query)
    var parts: [ValueID]
    if sizes.rank == 4, optional(1) == nil, optional(2) == nil, sizes[1] == heads, sizes[2] == 3 {
      parts = try emitter.split(query, axis: 2, sizes: [1, 1, 1], step: "stacked").enumerated().map {
        try emitter.reshape($1, [sizes[0], sizes[1] * sizes[3]], step: "flat_\($0)")
      }
    } else {
      parts = [query, try input(1), try input(2)]
    }
    guard parts.allSatisfy({ emitter.shape($0).rank == 2 && emitter.shape($0)[0] == sizes[0] }) else {
      throw emitter.invalid("expected tokens of \(heads) heads, got \(parts.map(emitter.type))")
    }
    guard let bias = optional(3) else { return parts }
    let widths = parts.map { emitter.shape($0)[1] }
    guard emitter.shape(bias) == [widths.reduce(0, +)] else {
      throw emitter.invalid("a bias of \(emitter.type(bias)) for operands of \(widths)")
    }
    let biases = try emitter.split(bias, axis: 0, sizes: widths, step: "bias")
    return try parts.indices.map {
      try emitter.binary(.add, parts[$0], biases[$0], step: "biased_\($0)")
    }
  }

  /// Returns whether a key of a sample is not padding, `[batch, 1, 1, keys]`.
  fileprivate func isToken(_ cumulative: ValueID, batch: Int, keys: Int) throws -> ValueID {
    let ends = try emitter.slice(cumulative, [SliceRange(start: 1, count: batch)], step: "ends")
    let starts = try emitter.slice(cumulative, [SliceRange(start: 0, count: batch)], step: "starts")
    let lengths = try emitter.reshape(
      emitter.binary(.subtract, ends, starts, step: "length_vector"), [batch, 1, 1, 1], step: "lengths")
    let columns = try emitter.table(emitter.scalar(cumulative), [keys], step: "columns") {
      (0..<keys).map(Double.init)
    }
    return try emitter.add(Compare(.less), columns, lengths, step: "is_token")
  }
}
