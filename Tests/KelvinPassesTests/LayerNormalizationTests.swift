import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

@Suite struct LayerNormalizationTests {
  private let evaluator = ReferenceEvaluator()
  private let reference = ReferenceDevice()

  /// The forms in which exporters write the quotient.
  enum Spelling: CaseIterable { case inverseRoot, quotient, affineRoot, twoDifferences, powers }

  private func chain(
    _ spelling: Spelling, axes: [Int] = [1, 2], scale: Shape? = [3, 5], leaksMean: Bool = false
  ) throws -> (Graph, [Tensor]) {
    var random = SeededGenerator(seed: 11)
    var builder = GraphBuilder(evaluator: evaluator)
    let x = try builder.input("x", TensorType(.float32, [4, 3, 5]))
    func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID { try builder.addStep(op, inputs) }
    func scalar(_ value: Float) -> ValueID { builder.constant("c\(value)", Tensor([value], [1])) }
    let mean = try add(Reduce(.mean, axes: axes, keepsDimensions: true), x)
    let centered = try add(Binary(.subtract), x, mean)
    let other = spelling == .twoDifferences ? try add(Binary(.subtract), x, mean) : centered
    let squared =
      switch spelling {
      case .inverseRoot: try add(Unary(UnaryFunction(.square)), other)
      case .quotient, .twoDifferences: try add(Binary(.power), other, scalar(2))
      case .affineRoot, .powers: try add(Binary(.multiply), other, other)
      }
    let variance = try add(Reduce(.mean, axes: axes, keepsDimensions: true), squared)
    var result: ValueID
    switch spelling {
    case .inverseRoot:
      result = try add(Binary(.multiply), try add(Unary(UnaryFunction(.rsqrt, a: 1e-5)), variance), centered)
    case .quotient, .twoDifferences:
      let shifted = try add(Binary(.add), variance, scalar(1e-5))
      result = try add(Binary(.divide), centered, try add(Unary(UnaryFunction(.sqrt)), shifted))
    case .affineRoot:
      let shifted = try add(Unary(UnaryFunction(.affine, a: 1, b: 1e-5)), variance)
      let root = try add(Unary(UnaryFunction(.sqrt)), shifted)
      result = try add(Binary(.multiply), centered, try add(Unary(UnaryFunction(.reciprocal)), root))
    case .powers:
      let shifted = try add(Binary(.add), scalar(1e-5), variance)
      result = try add(Binary(.multiply), centered, try add(Binary(.power), shifted, scalar(-0.5)))
    }
    if let scale {
      result = try add(
        Binary(.multiply), result, builder.constant("scale", Tensor.random(.float32, scale, -1...1, &random)))
      result = try add(
        Binary(.add), builder.constant("shift", Tensor.random(.float32, scale, -1...1, &random)), result)
    }
    builder.output(result)
    if leaksMean { builder.output(mean) }
    return (try builder.finish(), [.random(.float32, [4, 3, 5], -1...3, &random)])
  }

  /// `x / sqrt(mean(x²) + epsilon) · scale`, with x computed by an addition that is not part of the normalization.
  private func meanSquareChain(_ spelling: Spelling, scale: Shape = [5]) throws -> (Graph, [Tensor]) {
    var random = SeededGenerator(seed: 12)
    var builder = GraphBuilder(evaluator: evaluator)
    let source = try builder.input("x", TensorType(.float32, [4, 3, 5]))
    func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID { try builder.addStep(op, inputs) }
    func scalar(_ value: Float) -> ValueID { builder.constant("c\(value)", Tensor([value], [1])) }
    let x = try add(Binary(.subtract), source, builder.constant("d", Tensor([Float](repeating: 0.5, count: 5), [5])))
    let square = spelling == .powers ? try add(Binary(.power), x, scalar(2)) : try add(Binary(.multiply), x, x)
    let mean = try add(Reduce(.mean, axes: [2], keepsDimensions: true), square)
    let shifted = try add(Binary(.add), mean, scalar(1e-5))
    let root = try add(Unary(UnaryFunction(.sqrt)), shifted)
    var result =
      spelling == .quotient
      ? try add(Binary(.divide), x, root) : try add(Binary(.multiply), x, add(Unary(UnaryFunction(.reciprocal)), root))
    result = try add(
      Binary(.multiply), builder.constant("scale", Tensor.random(.float32, scale, -1...1, &random)), result)
    builder.output(result)
    return (try builder.finish(), [.random(.float32, [4, 3, 5], -1...3, &random)])
  }

  @Test(arguments: [Spelling.inverseRoot, .quotient, .powers])
  func normalizationsByTheMeanSquareBecomeOneNode(spelling: Spelling) throws {
    let (graph, inputs) = try meanSquareChain(spelling)
    let result = try Pipeline.standard(evaluator).run(graph)
    let node = try #require(result.graph.nodes.last)
    #expect(result.graph.nodes.count == 2)
    #expect(node.op as? LayerNormalization == LayerNormalization(axis: 2, epsilon: 1e-5, isCentered: false))
    #expect(node.inputs.count == 2 && node.body != nil)
    try expectEqualResults(graph, result.graph, inputs)
  }

  private func expectEqualResults(_ before: Graph, _ after: Graph, _ inputs: [Tensor]) throws {
    let wanted = try reference.run(before, inputs).outputs[0]
    let got = try reference.run(after, inputs).outputs[0]
    #expect(Tolerance(relative: 1e-5, absolute: 1e-6).difference(of: got, from: wanted) == nil)
  }

  @Test(arguments: Spelling.allCases)
  func everyDecompositionBecomesOneNode(spelling: Spelling) throws {
    let (graph, inputs) = try chain(spelling)
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.map { $0.op as? LayerNormalization } == [LayerNormalization(axis: 1, epsilon: 1e-5)])
    #expect(result.graph.nodes.first?.inputs.count == 3)
    #expect(result.graph.nodes.first?.origins.map(\.name) == graph.nodes.map(\.name))
    try expectEqualResults(graph, result.graph, inputs)
  }

  @Test func parametersWithLeadingOnesAreReshaped() throws {
    let (graph, inputs) = try chain(.inverseRoot, scale: [1, 3, 5])
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.count == 1)
    try expectEqualResults(graph, result.graph, inputs)
  }

  @Test func broadcastParametersStaySeparate() throws {
    let (graph, inputs) = try chain(.quotient, scale: [5])
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.map(\.op.name) == ["layer_normalization", "binary", "binary"])
    try expectEqualResults(graph, result.graph, inputs)
  }

  @Test func otherAxesAndSharedStatisticsAreNotFused() throws {
    for (graph, _) in [try chain(.inverseRoot, axes: [1]), try chain(.inverseRoot, leaksMean: true)] {
      let result = try RecognizeLayerNormalization().run(graph)
      #expect(result.graph.nodes.count == graph.nodes.count)
    }
  }
}

extension GraphBuilder {
  /// Adds a node of an operation of its own.
  fileprivate mutating func addStep(_ op: any Operator, _ inputs: [ValueID]) throws -> ValueID {
    let index = graph.nodes.count + 1
    let name = "step\(index)"
    return try add(op, inputs, name: name, origin: Origin(name: name, kind: "Test", index: index, work: 1))[0]
  }
}
