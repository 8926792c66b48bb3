import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Attention over operands `[N, heads, S, D]`, or `[N, S, heads · D]` with the number of heads as an attribute. If
  /// there are fewer key heads than query heads, each key head serves several query heads.
  ///
  /// Past keys and values precede the given ones. A cache that the caller keeps is padded instead, with the number of
  /// its valid keys.
  static let attention = ONNXMapper("Attention") { c in
    var operands = [try c.input(0), try c.input(1), try c.input(2)]
    let isFlat = c.emitter.shape(operands[0]).rank == 3
    if isFlat {
      let heads = [c.integer("q_num_heads", default: 0), c.integer("kv_num_heads", default: 0)]
      for (index, step) in ["query", "key", "value"].enumerated() {
        operands[index] = try c.emitter.splitHeads(operands[index], heads[min(index, 1)], step: step)
      }
    }
    for operand in operands where c.emitter.shape(operand).rank != 4 {
      throw c.emitter.invalid("expected [N, heads, S, D], got \(c.emitter.type(operand))")
    }
    var pastLength = 0
    for (index, step) in [(1, "present_keys"), (2, "present_values")] {
      guard let past = c.optional(3 + index) else { continue }
      guard c.optional(6) == nil else { throw c.emitter.invalid("it has both past keys and the length of a cache") }
      operands[index] = try c.emitter.concat([past, operands[index]], axis: 2, step: step)
      pastLength = c.emitter.shape(past)[2]
    }
    let present = (operands[1], operands[2])
    operands[2] = try c.emitter.cast(operands[2], to: c.emitter.scalar(operands[0]), step: "values_as_queries")
    let query = c.emitter.shape(operands[0])
    for (index, step) in [(1, "keys"), (2, "values")] {
      operands[index] = try c.emitter.repeatHeads(operands[index], query[1], step: step)
    }
    let scale = c.node.attributes["scale"]?.float ?? 1 / Float(query[3]).squareRoot()
    let keys = c.emitter.shape(operands[1])[2]
    let mask = try c.attentionMask(batch: query[0], queries: query[2], keys: keys, past: pastLength)
    let softCap = c.float("softcap", default: 0)
    let shown = try c.scoreStage()
    let (result, scores) = try c.emitter.attention(
      operands[0], operands[1], operands[2], mask: mask, scale: scale, softCap: softCap, keeping: shown,
      step: isFlat || shown != nil ? "heads" : nil)
    let rest = [present.0, present.1] + (scores.map { [$0] } ?? [])
    return [isFlat ? try c.emitter.joinHeads(result) : result] + rest
  }
}

extension ONNXOperation {
  /// Returns the stage of the scores that the fourth output shows, or nil without that output.
  fileprivate func scoreStage() throws -> ScoreStage? {
    guard node.outputs.count > 3, !node.outputs[3].isEmpty else { return nil }
    switch integer("qk_matmul_output_mode", default: 0) {
    case 0: return .products
    case 1: return .capped
    case 2: return .masked
    case 3: return .shares
    case let mode: throw emitter.invalid("qk_matmul_output_mode \(mode) is not known")
    }
  }

  /// Returns the combined mask: the mask of input 3, the causal order, a window, and the number of keys of input 6. It
  /// excludes scores or is added to them; nil if all scores count.
  fileprivate func attentionMask(batch: Int, queries: Int, keys: Int, past: Int) throws -> ValueID? {
    let allowed = try positionMask(batch: batch, queries: queries, keys: keys, past: past)
    guard var given = optional(3) else { return allowed }
    // An integer mask does not exclude keys.
    if !emitter.scalar(given).isFloatingPoint, emitter.scalar(given) != .bool {
      given = try emitter.cast(given, to: .float32, step: "real_mask")
    }
    let missing = keys - (emitter.shape(given).dimensions.last ?? keys)
    guard missing >= 0 else { throw emitter.invalid("a mask of \(emitter.type(given)) for \(keys) keys") }
    var after = [Int](repeating: 0, count: emitter.shape(given).rank)
    if missing > 0 { after[after.count - 1] = missing }
    let isTruth = emitter.scalar(given) == .bool
    let mask = try emitter.pad(
      given, before: after.map { _ in 0 }, after: after, mode: .constant(isTruth ? 0 : -.infinity), step: "whole_mask")
    guard let positions = allowed else { return mask }
    if isTruth {
      return try emitter.binary(.logicalAnd, mask, positions, step: "allowed")
    }
    let excluded = emitter.constant(-.infinity, emitter.scalar(mask), step: "out_of_place")
    return try emitter.add(Select(), positions, mask, excluded, step: "placed_mask")
  }

  /// Returns the mask of the keys that a query attends to by position. The positions of queries follow the past keys.
  /// If `nonpad_kv_seqlen` gives the number of keys of each sample, queries are among the last of these keys.
  private func positionMask(batch: Int, queries: Int, keys: Int, past: Int) throws -> ValueID? {
    let (left, right) = (integer("left_window_size", default: -1), integer("right_window_size", default: -1))
    let last = flag("is_causal") ? 0 : right >= 0 ? right : nil
    let first = left >= 0 ? -left : nil
    guard let counts = optional(6) else {
      guard first != nil || last != nil else { return nil }
      let type = TensorType(.bool, [queries, keys])
      guard type.shape.isAddressable else { throw emitter.invalid("\(queries) queries of \(keys) keys are too many") }
      let range = (first ?? -keys - queries)...(last ?? keys + queries)
      let isAllowed = Weight(type) {
        Tensor(type, Bytes((0..<type.count).map { UInt8(range.contains($0 % keys - $0 / keys - past) ? 1 : 0) }))
      }
      return emitter.constant(isAllowed, step: "in_place")
    }
    guard emitter.shape(counts).dimensions == [batch] else {
      throw emitter.invalid("nonpad_kv_seqlen is \(emitter.type(counts)) for a batch of \(batch)")
    }
    let scalar = emitter.scalar(counts)
    let limits = try emitter.reshape(counts, [batch, 1, 1, 1], step: "limits")
    func compare(_ function: Compare.Function, _ bound: Int, _ step: String) throws -> ValueID {
      let type = TensorType(.int64, [queries, keys])
      let places = Weight(type) {
        Tensor((0..<type.count).map { Int64($0 % keys - $0 / keys + queries - bound) }, type.shape)
      }
      let along = try emitter.cast(emitter.constant(places, step: "\(step)_places"), to: scalar, step: step + "_cast")
      return try emitter.add(Compare(function), along, limits, step: step)
    }
    let columns = Tensor((0..<keys).map(Int64.init), [keys]).converted(to: scalar)
    var allowed = try emitter.add(
      Compare(.less), emitter.constant(Weight(columns), step: "columns"), limits, step: "is_key")
    if let last {
      let before = try compare(.lessOrEqual, last, "before")
      allowed = try emitter.binary(.logicalAnd, allowed, before, step: "key_before")
    }
    if let first {
      let after = try compare(.greaterOrEqual, first, "after")
      allowed = try emitter.binary(.logicalAnd, allowed, after, step: "key_after")
    }
    return allowed
  }
}
