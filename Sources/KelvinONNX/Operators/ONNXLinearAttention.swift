import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Linear attention with a state `S` of each key head, `[d_k, d_v]`: `S ← e^g · S + β · k ⊗ (v - e^g · Sᵀk)`,
  /// `o = scale · qᵀS`. Without a gate `e^g` is 1. Without the delta rule the subtracted term is 0 and β is 1. Computed
  /// in float32.
  static let linearAttention = ONNXMapper("LinearAttention") { c in
    let rule = c.text("update_rule", default: "gated_delta")
    guard ["linear", "gated", "delta", "gated_delta"].contains(rule) else {
      throw c.unsupported("its update_rule is '\(rule)', expected linear, gated, delta or gated_delta")
    }
    let attention = try LinearAttention(c, isGated: rule.hasPrefix("gated"), correctsValues: rule.hasSuffix("delta"))
    return try attention.write(c)
  }
}

/// The operands of a `LinearAttention`, with the axis of steps first.
private struct LinearAttention {
  private let sizes: Sizes
  /// `[T, N, heads, group, d_k]`, scaled. The queries that read the state of a key head are rows of one matrix.
  private let query: ValueID
  /// `[T, N, heads, d_k, 1]`
  private let key: ValueID
  /// `[T, N, heads, 1, d_v]`
  private let value: ValueID
  /// `[T, N, heads, d_k or 1, 1]`, the factor of the state.
  private let decay: ValueID?
  /// `[T, N, heads or 1, 1, 1]`
  private let rate: ValueID?
  /// `[N, heads, d_k, d_v]`
  private let past: ValueID
  private let pastScalar: ScalarType

  private struct Sizes {
    let batch, steps, heads, group, keySize, valueSize: Int
  }

  init(_ c: ONNXOperation, isGated: Bool, correctsValues: Bool) throws {
    let emitter = c.emitter
    let (queryHeads, heads) = (try c.count("q_num_heads"), try c.count("kv_num_heads"))
    let (q, k, v) = (try c.input(0), try c.input(1), try c.input(2))
    let (queries, keys, values) = (emitter.shape(q), emitter.shape(k), emitter.shape(v))
    guard
      [queries, keys, values].allSatisfy({ $0.rank == 3 && $0.dimensions.prefix(2) == queries.dimensions.prefix(2) }),
      queryHeads % heads == 0, queries[2] % queryHeads == 0, values[2] % heads == 0, queries[2] > 0,
      keys[2] == queries[2] / queryHeads * heads
    else {
      throw emitter.invalid(
        "\(emitter.type(q)), \(emitter.type(k)) and \(emitter.type(v)) for \(queryHeads) query and \(heads) key heads")
    }
    let sizes = Sizes(
      batch: queries[0], steps: queries[1], heads: heads, group: queryHeads / heads, keySize: queries[2] / queryHeads,
      valueSize: values[2] / heads)
    self.sizes = sizes
    func stepsFirst(_ x: ValueID, _ rest: [Int], _ name: String) throws -> ValueID {
      let wide = try emitter.cast(x, to: .float32, step: "wide_\(name)")
      let split = try emitter.reshape(wide, Shape([sizes.batch, sizes.steps] + rest), step: "split_\(name)")
      return try emitter.transpose(split, [1, 0] + (2..<(2 + rest.count)), step: name)
    }
    let given = c.float("scale", default: 0)
    let scale = given == 0 ? 1 / Float(sizes.keySize).squareRoot() : given
    query = try emitter.unary(
      UnaryFunction(.affine, a: scale), stepsFirst(q, [heads, sizes.group, sizes.keySize], "queries"),
      step: "scaled_queries")
    key = try stepsFirst(k, [heads, sizes.keySize, 1], "keys")
    value = try stepsFirst(v, [heads, 1, sizes.valueSize], "values")
    func parameter(_ index: Int, _ name: String, isUsed: Bool, _ lengths: Set<Int>) throws -> (ValueID, Int)? {
      guard let x = c.optional(index) else {
        if isUsed { throw emitter.invalid("its update_rule needs \(name)") }
        return nil
      }
      guard isUsed else { throw emitter.invalid("its update_rule has no \(name)") }
      let shape = emitter.shape(x)
      guard shape.rank == 3, shape.dimensions.prefix(2) == queries.dimensions.prefix(2), lengths.contains(shape[2])
      else {
        throw emitter.invalid("its \(name) is \(emitter.type(x)), expected rows of \(lengths.sorted())")
      }
      return (x, shape[2])
    }
    decay = try parameter(4, "decay", isUsed: isGated, [heads, heads * sizes.keySize]).map { x, length in
      try emitter.unary(
        UnaryFunction(.exp), stepsFirst(x, [heads, length / heads, 1], "logarithms"), step: "decays")
    }
    rate = try parameter(5, "beta", isUsed: correctsValues, [heads, 1]).map { x, length in
      try stepsFirst(x, [length, 1, 1], "rates")
    }
    let type = TensorType(.float32, [sizes.batch, heads, sizes.keySize, sizes.valueSize])
    if let state = c.optional(3) {
      guard emitter.shape(state) == type.shape else {
        throw emitter.invalid("its past state is \(emitter.type(state)), expected \(type.shape)")
      }
      past = try emitter.cast(state, to: .float32, step: "past")
      pastScalar = emitter.scalar(state)
    } else {
      past = emitter.zeros(type, step: "past")
      pastScalar = emitter.scalar(q)
    }
  }

  /// Emits the attention, and returns the results of all steps and the final state.
  func write(_ c: ONNXOperation) throws -> [ValueID] {
    let emitter = c.emitter
    let rowType = TensorType(.float32, [sizes.batch, sizes.heads, sizes.group, sizes.valueSize])
    var (rows, state): (ValueID, ValueID)
    if sizes.steps == 1 {
      let alone = emitter.constant(integers: [0], .int64, shape: [])
      (rows, state) = try step(emitter, past) { try emitter.add(Gather(axis: 0), $0, alone, step: $1) }
    } else {
      let depth = emitter.depth
      let region = try emitter.region(.body) {
        let number = try emitter.input("\(c.node.name)/step", TensorType(.int64, []))
        let before = try emitter.input("\(c.node.name)/state", emitter.type(emitter.value(past, of: depth)))
        let (row, after) = try step(emitter, before) { whole, name in
          try emitter.add(Gather(axis: 0), emitter.value(whole, of: depth), number, step: name)
        }
        return [after, row]
      }
      let limit = emitter.constant(integers: [sizes.steps], .int64, shape: [])
      let results = try c.loop(region, limit: limit, condition: nil, [past], [rowType])
      (state, rows) = (results[0], results[1])
    }
    let scalar = emitter.scalar(try c.input(0))
    let stepped = try emitter.reshape(
      rows, [sizes.steps, sizes.batch, sizes.heads, sizes.group, sizes.valueSize], step: "stepped")
    let moved = try emitter.transpose(stepped, [1, 0, 2, 3, 4], step: "batch_first")
    let joined = try emitter.reshape(
      moved, [sizes.batch, sizes.steps, sizes.heads * sizes.group * sizes.valueSize], step: "joined")
    return [
      try emitter.cast(joined, to: scalar, step: "result"), try emitter.cast(state, to: pastScalar, step: "present"),
    ]
  }

  /// Returns one step's result and its new state.
  ///
  /// - Parameter pick: Returns the step's slice of an operand of all steps.
  private func step(
    _ emitter: Emitter, _ before: ValueID, _ pick: (ValueID, String) throws -> ValueID
  ) throws -> (row: ValueID, state: ValueID) {
    var state = before
    if let decay {
      state = try emitter.binary(.multiply, state, pick(decay, "decay"), step: "decayed")
    }
    let column = try pick(key, "key")
    var addend = try pick(value, "value")
    if let rate {
      let keyRow = try emitter.transpose(column, [0, 1, 3, 2], step: "key_row")
      let known = try emitter.add(MatMul(), keyRow, state, step: "retrieved")
      addend = try emitter.binary(.subtract, addend, known, step: "difference")
      addend = try emitter.binary(.multiply, addend, pick(rate, "rate"), step: "correction")
    }
    let product = try emitter.binary(.multiply, column, addend, step: "outer_product")
    state = try emitter.binary(.add, state, product, step: "state")
    return (try emitter.add(MatMul(), pick(query, "query"), state, step: "row"), state)
  }
}
