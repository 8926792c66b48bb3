import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

/// Attention however exporters project, split heads, scale, mask and join them again: recognized, and worth the same.
@Suite struct AttentionPassTests {
  private let tolerance = Tolerance(relative: 1e-4, absolute: 1e-5)

  /// The source of queries, keys and values.
  private enum Source {
    /// Contiguous in one input, or each in its own input.
    case packed, apart
    /// Products of one input, or of one for the queries and another for keys and values.
    case projected, crossed

    /// The number of products that remain of the projections.
    var products: Int {
      switch self {
      case .packed, .apart: 0
      case .projected: 1
      case .crossed: 2
      }
    }
  }

  /// Returns a graph of attention with random sizes, in a random form.
  private func graph(seed: UInt64) throws -> (Graph, [Tensor], Source) {
    var random = SeededGenerator(seed: seed)
    func pick<T>(_ values: [T]) -> T { values[Int(random.next() % UInt64(values.count))] }
    let (batch, heads) = (pick([1, 2]), pick([1, 2, 3]))
    let queries = pick([1, 3, 8, 17, 70])
    let (width, source) = (pick([1, 4, 9, 16]), pick([Source.packed, .apart, .projected, .crossed]))
    let keys = source == .packed || source == .projected ? queries : pick([1, 5, 8, 50])
    let valueWidth = source == .packed ? width : pick([2, 16, 20])
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var inputs: [Tensor] = []
    func input(_ name: String, _ shape: Shape) throws -> ValueID {
      inputs.append(.random(.float32, shape, -2...2, &random))
      return try builder.input(name, TensorType(.float32, shape))
    }
    func add(_ op: any Operator, _ operands: ValueID..., name: String) throws -> ValueID {
      try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }
    func number(_ value: Double) -> ValueID { builder.constant("number", Tensor([Float(value)], [])) }
    // Each operand as [batch, heads, rows, elements], or [heads, rows, elements] of a single batch.
    let hasBatch = batch > 1 || pick([true, false])
    func split(_ x: ValueID, _ rows: Int, _ elements: Int, _ name: String) throws -> ValueID {
      let apart = try add(Reshape([batch, rows, heads, elements]), x, name: "\(name).heads")
      let turned = try add(Transpose([0, 2, 1, 3]), apart, name: "\(name).turned")
      return hasBatch ? turned : try add(Reshape([heads, rows, elements]), turned, name: "\(name).flat")
    }
    var operands: [ValueID] = []
    func project(_ x: ValueID, _ elements: Int, _ name: String) throws -> ValueID {
      let weights = builder.constant("\(name).weights", Tensor.random(.float32, [10, elements], -1...1, &random))
      let product = try add(MatMul(), x, weights, name: "\(name).product")
      guard pick([true, false]) else { return product }
      let bias = builder.constant("\(name).bias", Tensor.random(.float32, [elements], -1...1, &random))
      return try add(Binary(.add), product, bias, name: "\(name).biased")
    }
    switch source {
    case .packed:
      let all = try input("x", [batch, queries, 3 * heads * width])
      for part in 0..<3 {
        let slice = Slice(
          starts: [0, 0, part * heads * width], counts: [batch, queries, heads * width], steps: [1, 1, 1])
        operands.append(try split(try add(slice, all, name: "part\(part)"), queries, width, "operand\(part)"))
      }
    case .apart:
      operands.append(try split(try input("q", [batch, queries, heads * width]), queries, width, "query"))
      operands.append(try split(try input("k", [batch, keys, heads * width]), keys, width, "key"))
      operands.append(try split(try input("v", [batch, keys, heads * valueWidth]), keys, valueWidth, "value"))
    case .projected, .crossed:
      let x = try input("x", [batch, queries, 10])
      let y = source == .projected ? x : try input("y", [batch, keys, 10])
      operands.append(try split(try project(x, heads * width, "query"), queries, width, "query"))
      operands.append(try split(try project(y, heads * width, "key"), keys, width, "key"))
      operands.append(try split(try project(y, heads * valueWidth, "value"), keys, valueWidth, "value"))
    }
    let rank = hasBatch ? 4 : 3
    if pick([true, false]) { operands[0] = try add(Binary(.multiply), operands[0], number(0.3), name: "scaled") }
    var exchanged = Array(0..<rank)
    exchanged.swapAt(rank - 1, rank - 2)
    var scores: ValueID
    if pick([true, false]) {
      let keys = try add(Transpose(exchanged), operands[1], name: "keys")
      scores = try add(MatMul(), operands[0], keys, name: "scores")
    } else {
      scores = try add(MatMul(transposesY: true), operands[0], operands[1], name: "scores")
    }
    if pick([true, false]) { scores = try add(Binary(.divide), scores, number(2.5), name: "divided") }
    switch pick([0, 1, 2]) {
    case 0: scores = try add(Binary(.add), scores, try input("mask", [keys]), name: "masked")
    case 1: scores = try add(Binary(.add), try input("mask", [1, queries, keys]), scores, name: "masked")
    default: break
    }
    let shares = try add(Softmax(axis: rank - 1), scores, name: "shares")
    var result = try add(MatMul(), shares, operands[2], name: "sums")
    if pick([true, false, true]) {
      result = try add(Transpose(hasBatch ? [0, 2, 1, 3] : [1, 0, 2]), result, name: "turned")
      result = try add(Reshape([batch * queries, heads * valueWidth]), result, name: "joined")
    }
    builder.output(try add(Unary(.relu), result, name: "relu"))
    return (try builder.finish(), inputs, source)
  }

  @Test(arguments: Tier.seeds(UInt64(20), of: 100)) func attentionIsRecognizedWithEqualResults(seed: UInt64) throws {
    let (graph, inputs, source) = try graph(seed: seed)
    let result = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
    #expect(result.nodes.filter { $0.op is Attention }.count == 1, "seed \(seed): \(result)")
    #expect(result.nodes.filter { $0.op is Linear }.count == source.products, "seed \(seed): \(result)")
    #expect(!result.nodes.contains { $0.op is Softmax || $0.op is Transpose }, "seed \(seed): \(result)")
    let wanted = try ReferenceDevice().run(graph, inputs).outputs[0]
    let bodies = ExpandedGraph(result) { node, _ in node.body }.graph
    #expect(!bodies.nodes.contains { $0.op is Attention })
    for (what, got) in [
      ("definition", try ReferenceDevice().run(result, inputs)), ("body", try ReferenceDevice().run(bodies, inputs)),
      ("cpu", try CPUDevice().run(result, inputs)), ("threads", try CPUDevice().run(result, inputs, threads: 3)),
    ] {
      #expect(tolerance.difference(of: got.outputs[0], from: wanted) == nil, "seed \(seed), \(what): \(result)")
    }
  }

  /// `softmax(x · xᵀ) · x`, of what `moves` makes of an input of a shape.
  private func graph(
    of shape: Shape, _ moves: (inout GraphBuilder, ValueID) throws -> ValueID
  ) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let x = try moves(&builder, try builder.input("x", TensorType(.float32, shape)))
    func add(_ op: any Operator, _ operands: ValueID...) throws -> ValueID {
      try builder.add(op, operands, name: op.name, origin: Origin(name: op.name, kind: "Test", index: 0))[0]
    }
    let scores = try add(MatMul(transposesY: true), x, x)
    let shares = try add(Softmax(axis: builder.type(of: x).shape.rank - 1), scores)
    builder.output(try add(MatMul(), shares, x))
    return try builder.finish()
  }

  private func recognized(_ graph: Graph) throws -> Node? {
    try Pipeline(passes: [RecognizeAttention()]).run(graph).graph.nodes.first { $0.op is Attention }
  }

  private let origin = Origin(name: "move", kind: "Test", index: 0)

  @Test func emptySequencesAreUnchanged() throws {
    let graph = try graph(of: [2, 0, 4]) { [origin] builder, x in
      try builder.add(Reshape([1, 2, 0, 4]), [x], name: "apart", origin: origin)[0]
    }
    #expect(try recognized(graph) == nil)
  }

  @Test(arguments: [Int.max, Int.min, 3, -4]) func indexOutsideItsAxisIsNotFollowed(index: Int) throws {
    let graph = try graph(of: [5, 3, 4]) { [origin] builder, x in
      let place = builder.constant("place", Tensor(TensorType(.int64, []), wrapping: [Int64(index)]))
      return try builder.add(Gather(axis: 1), [x, place], name: "part", origin: origin)[0]
    }
    let node = try #require(try recognized(graph))
    #expect((node.op as? Attention)?.query == [0, 0, 0, 4, 1])
  }

  /// Values that attention reads are kept, even if only replaced nodes read them before.
  @Test func operandsOfAttentionAreNotReplaced() throws {
    for reading in ["a mask", "its own scores", "another operand's way"] {
      var builder = GraphBuilder(evaluator: ReferenceEvaluator())
      func add(_ op: any Operator, _ operands: ValueID...) throws -> ValueID {
        try builder.add(op, operands, name: op.name, origin: Origin(name: op.name, kind: "Test", index: 0))[0]
      }
      let x = try builder.input("x", TensorType(.float32, [4, 4]))
      let turned = try add(Transpose([1, 0]), x)
      let isWay = reading == "another operand's way"
      // No view of `x`, but one of what it is turned to.
      let rows = isWay ? try add(Reshape([4, 4]), try add(Reshape([16]), turned)) : x
      let product = try add(MatMul(), rows, turned)
      let scores = isWay ? product : try add(Binary(.add), product, reading == "a mask" ? turned : product)
      builder.output(try add(MatMul(), try add(Softmax(axis: 1), scores), x))
      let graph = try builder.finish()
      let result = try Pipeline(passes: [RecognizeAttention()]).run(graph).graph
      #expect(result.nodes.contains { $0.op is Attention } == (reading != "its own scores"), "\(reading): \(result)")
      let input = Tensor((0..<16).map { Float($0 % 7) / 3 - 1 }, [4, 4])
      let wanted = try ReferenceDevice().run(graph, [input]).outputs[0]
      let got = try ReferenceDevice().run(result, [input]).outputs[0]
      #expect(tolerance.difference(of: got, from: wanted) == nil, "\(reading): \(result)")
    }
  }

  @Test func longViewChainsAreFollowedOnlyPartly() throws {
    let graph = try graph(of: [6, 4]) { [origin] builder, x in
      var x = x
      for step in 0..<3000 {
        let shape: Shape = step.isMultiple(of: 2) ? [24] : [6, 4]
        x = try builder.add(Reshape(shape), [x], name: "step\(step)", origin: origin)[0]
      }
      return x
    }
    let node = try #require(try recognized(graph))
    #expect((node.body?.nodes.count ?? 0) < 50)
  }
}
