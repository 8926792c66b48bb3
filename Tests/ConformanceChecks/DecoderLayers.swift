package import KelvinBasics
package import KelvinGraph

/// Layers of a decoder with caches that have room for all tokens, as mappers write them: a length for each batch, the
/// number of the last token, says which rows are written and which keys are seen.
package struct DecoderLayers {
  package var layers = 1
  package var batch = 1
  package var heads = 4
  /// Heads that share one head of keys and values.
  package var sharing = 1
  /// Elements of a head.
  package var size = 8
  /// Tokens that are read together.
  package var tokens = 1
  package var room = 17
  /// The number of keys that a token sees; 0 for all.
  package var window = 0
  /// Whether caches are states; otherwise they are inputs and outputs.
  package var hasStates = false

  package init() {}

  private var width: Int { heads * size }
  private var caches: TensorType { TensorType(.float32, [batch, heads / sharing, room, size]) }

  /// Returns the graph. Its inputs are the tokens `[batch, tokens, heads · size]`, the lengths and the caches.
  package func graph(_ evaluator: any ConstantEvaluator, _ random: inout SeededGenerator) throws -> Graph {
    var net = Net(builder: GraphBuilder(evaluator: evaluator), random: random)
    defer { random = net.random }
    var x = try net.builder.input("x", TensorType(.float32, [batch, tokens, width]))
    let lengths = try net.builder.input("lengths", TensorType(.int32, [batch]))
    var outputs: [ValueID] = []
    for layer in 0..<layers {
      net.name = "layer\(layer)"
      var (read, written): ([ValueID], [ValueID]) = ([], [])
      for part in ["keys", "values"] {
        let name = "\(net.name).\(part)"
        read.append(hasStates ? try net.builder.state(name, caches) : try net.builder.input(name, caches))
      }
      (x, written) = try self.layer(x, lengths, read, &net)
      for (part, value) in zip(["keys", "values"], written) {
        if hasStates { net.builder.write(value, to: "\(net.name).\(part)") } else { outputs.append(value) }
      }
    }
    for output in [x] + outputs { net.builder.output(output) }
    return try net.builder.finish()
  }

  private func layer(
    _ x: ValueID, _ lengths: ValueID, _ caches: [ValueID], _ net: inout Net
  ) throws -> (ValueID, [ValueID]) {
    let groups = heads / sharing
    let normed = try net.normalized(x, width)
    let query = try net.heads(of: try net.linear(normed, width, width), heads, [batch, tokens, heads, size])
    let new = try (0..<2).map { _ in
      try net.heads(of: try net.linear(normed, width, groups * size), groups, [batch, tokens, groups, size])
    }
    let wide = try net.add(Cast(.int64), lengths)
    let past = try net.add(
      Binary(.add), try net.add(Reshape([batch, 1]), wide), net.integers([1 - tokens], []))
    let rows = try net.add(Binary(.add), net.integers(Array(0..<tokens), [1, tokens]), past)
    let column = try net.add(Reshape([batch, 1, tokens, 1]), rows)
    var written: [ValueID] = []
    for (cache, rows) in zip(caches, new) {
      let places = try net.add(Expand([batch, groups, tokens, size]), column)
      written.append(try net.add(ScatterElements(axis: 2), cache, places, rows))
    }
    let repeated = try written.map { value in
      guard sharing > 1 else { return value }
      let apart = try net.add(Reshape([batch, groups, 1, room, size]), value)
      let copies = try net.add(Expand([batch, groups, sharing, room, size]), apart)
      return try net.add(Reshape([batch, heads, room, size]), copies)
    }
    let scaled = try net.add(Unary(UnaryFunction(.affine, a: 0.4)), query)
    let scores = try net.add(MatMul(transposesY: true), scaled, repeated[0])
    let distances = net.integers(
      (0..<tokens).flatMap { token in (0..<room).map { $0 - token } }, [tokens, room])
    let limits = try net.add(Reshape([batch, 1, 1, 1]), past)
    var seen = try net.add(Compare(.lessOrEqual), distances, limits)
    if window > 0 {
      let first = try net.add(Binary(.subtract), limits, net.integers([window - 1], []))
      seen = try net.add(Binary(.logicalAnd), seen, try net.add(Compare(.greaterOrEqual), distances, first))
    }
    let masked = try net.add(Select(), seen, scores, net.number(-.infinity))
    let shares = try net.add(Select(), seen, try net.add(Softmax(axis: 3), masked), net.number(0))
    let sums = try net.add(MatMul(), shares, repeated[1])
    let turned = try net.add(Transpose([0, 2, 1, 3]), sums)
    let joined = try net.add(Reshape([batch, tokens, width]), turned)
    let attended = try net.add(Binary(.add), x, try net.linear(joined, width, width))
    let hidden = try net.linear(try net.normalized(attended, width), width, 2 * width)
    let result = try net.linear(try net.add(Unary(UnaryFunction(.gelu)), hidden), 2 * width, width)
    return (try net.add(Binary(.add), attended, result), written)
  }

  /// A graph being written, with names for its nodes.
  private struct Net {
    var builder: GraphBuilder
    var random: SeededGenerator
    var name = ""
    private var number = 0

    init(builder: GraphBuilder, random: SeededGenerator) { (self.builder, self.random) = (builder, random) }

    mutating func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
      number += 1
      let node = "\(name).\(op.name)\(number)"
      return try builder.add(op, inputs, name: node, origin: Origin(name: node, kind: "Test", index: number))[0]
    }

    mutating func integers(_ values: [Int], _ shape: Shape) -> ValueID {
      constant(Tensor(values.map(Int64.init), shape))
    }

    mutating func number(_ value: Double) -> ValueID { constant(Tensor([Float(value)], [])) }

    mutating func weight(_ shape: Shape) -> ValueID { constant(.random(.float32, shape, -0.5...0.5, &random)) }

    private mutating func constant(_ tensor: Tensor) -> ValueID {
      number += 1
      return builder.constant("\(name).constant\(number)", tensor)
    }

    mutating func normalized(_ x: ValueID, _ width: Int) throws -> ValueID {
      try add(LayerNormalization(axis: 2, epsilon: 1e-5), x, weight([width]), weight([width]))
    }

    mutating func linear(_ x: ValueID, _ inputs: Int, _ outputs: Int) throws -> ValueID {
      try add(Linear(epilogue: .bias), x, weight([outputs, inputs]), weight([outputs]))
    }

    /// Returns `[batch, heads, tokens, size]`.
    mutating func heads(of x: ValueID, _ count: Int, _ shape: Shape) throws -> ValueID {
      try add(Transpose([0, 2, 1, 3]), try add(Reshape(shape), x))
    }
  }
}
