import KelvinGraph

extension ONNXMapper {
  /// Attention without a cache of keys and values. Operands are `[N, heads, S, D]`, or `[N, S, heads · D]` with the number
  /// of heads as an attribute; fewer key heads than query heads serve several each.
  static let attention = ONNXMapper("Attention") { c in
    guard c.optional(4) == nil, c.optional(5) == nil, c.node.outputs.dropFirst().allSatisfy(\.isEmpty) else {
      throw c.unsupported("past keys and values, or outputs besides the first")
    }
    guard c.float("softcap", default: 0) == 0 else { throw c.unsupported("a soft cap of its scores") }
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
    let query = c.emitter.shape(operands[0])
    for (index, step) in [(1, "keys"), (2, "values")] {
      operands[index] = try c.emitter.repeatHeads(operands[index], query[1], step: step)
    }
    let scale = c.node.attributes["scale"]?.float ?? 1 / Float(query[3]).squareRoot()
    var mask = c.optional(3)
    if c.flag("is_causal") {
      guard mask == nil else { throw c.unsupported("a mask besides the causal one") }
      let yes = c.emitter.constant(1, .bool, step: "yes")
      let square = try c.emitter.add(Expand([query[2], c.emitter.shape(operands[1])[2]]), yes, step: "all")
      mask = try c.emitter.band(square, lower: nil, upper: 0, step: "causal")
    }
    let result = try c.emitter.attention(
      operands[0], operands[1], operands[2], mask: mask, scale: scale, step: isFlat ? "heads" : nil)
    guard isFlat else { return [result] }
    let joined = try c.emitter.transpose(result, [0, 2, 1, 3], step: "joined")
    let sizes = c.emitter.shape(joined)
    return [try c.emitter.reshape(joined, [sizes[0], sizes[1], sizes[2] * sizes[3]])]
  }
}

extension Emitter {
  fileprivate mutating func repeatHeads(_ x: ValueID, _ count: Int, step: String) throws -> ValueID {
    let sizes = shape(x)
    if sizes[1] == count { return x }
    guard sizes[1] > 0, count % sizes[1] == 0 else { throw invalid("\(type(x)) for \(count) heads") }
    let separate = try reshape(x, [sizes[0], sizes[1], 1, sizes[2], sizes[3]], step: "\(step)_separate")
    let repeated = try add(
      Expand([sizes[0], sizes[1], count / sizes[1], sizes[2], sizes[3]]), separate, step: "\(step)_repeated")
    return try reshape(repeated, [sizes[0], count, sizes[2], sizes[3]], step: step)
  }
}
