import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Synchronization
import TestSupport
import Testing

@Suite struct PassTests {
  private let evaluator = ReferenceEvaluator()
  private let reference = ReferenceDevice()

  private func origin(_ name: String) -> Origin { Origin(name: name, kind: "Test", index: 0) }

  /// A residual block with batch normalisation, as an unfused source writes it.
  private func block() throws -> (Graph, [Tensor]) {
    var random = SeededGenerator(seed: 7)
    var builder = GraphBuilder(evaluator: evaluator)
    let x = try builder.input("x", TensorType(.float32, [1, 4, 6, 5]))
    func weight(_ name: String, _ shape: Shape, _ range: ClosedRange<Float> = -1...1) -> ValueID {
      builder.constant(name, Tensor.random(.float32, shape, range, &random))
    }
    let convolution = Convolution(window: Window(kernel: [3, 3], before: [1, 1]))
    let product = try builder.add(convolution, x, weight("w", [4, 4, 3, 3]), name: "conv", origin: origin("conv"))
    let normal = try builder.add(
      BatchNormalization(epsilon: 1e-3),
      [
        product, weight("scale", [4]), weight("shift", [4]), weight("mean", [4]), weight("variance", [4], 0.5...2),
      ], name: "bn", origin: origin("bn"))[0]
    let sum = try builder.add(Binary(.add), x, normal, name: "add", origin: origin("add"))
    let y = try builder.add(Unary(.relu), sum, name: "relu", origin: origin("relu"))
    builder.output(y)
    return (try builder.finish(), [.random(.float32, [1, 4, 6, 5], -1...1, &random)])
  }

  @Test func aResidualBlockBecomesOneNode() throws {
    let (graph, inputs) = try block()
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.count == 1)
    let node = try #require(result.graph.nodes.first)
    let op = try #require(node.op as? Convolution)
    #expect(op.epilogue == Epilogue(hasBias: true, addsResidual: true, activation: .relu))
    #expect(node.origins.map(\.name) == ["conv", "bn", "add", "relu"])
    #expect(node.originShares.map(\.share).reduce(0, +).isApproximately(1))
    #expect(node.body != nil)
    let before = try reference.run(graph, inputs).outputs[0]
    let after = try reference.run(result.graph, inputs).outputs[0]
    #expect(Tolerance(relative: 1e-5, absolute: 1e-6).difference(of: after, from: before) == nil)
  }

  @Test func foldedWeightsAreComputedLazily() throws {
    let type = TensorType(.float32, [2])
    let graph = Graph(
      nodes: [
        Node(name: "n", op: Unary(.relu), inputs: [ValueID(1)], outputs: [ValueID(2)], origins: [origin("n")]),
        Node(
          name: "m", op: Binary(.add), inputs: [ValueID(0), ValueID(2)], outputs: [ValueID(3)], origins: [origin("m")]),
      ],
      values: [
        Value(name: "x", type: type),
        Value(
          name: "w", type: type,
          weight: Weight(type) {
            Issue.record("was read")
            return Tensor([Float(1), 2], [2])
          }),
        Value(name: "r", type: type), Value(name: "y", type: type),
      ], inputs: [ValueID(0)], outputs: [ValueID(3)])
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.map(\.name) == ["m"])
    #expect(result.changes.first?.isRemoval == true)
    #expect(result.changes.first?.origins.map(\.name) == ["n"])
  }

  @Test func aSharedConvolutionIsNotFusedAway() throws {
    var builder = GraphBuilder(evaluator: evaluator)
    var random = SeededGenerator(seed: 3)
    let x = try builder.input("x", TensorType(.float32, [1, 2, 3, 3]))
    let w = builder.constant("w", Tensor.random(.float32, [2, 2, 1, 1], -1...1, &random))
    let product = try builder.add(
      Convolution(window: Window(kernel: [1, 1])), x, w, name: "conv", origin: origin("conv"))
    let relu = try builder.add(Unary(.relu), product, name: "relu", origin: origin("relu"))
    builder.output(relu)
    builder.output(product)
    let graph = try builder.finish()
    let result = try Pipeline.standard(evaluator).run(graph)
    #expect(result.graph.nodes.map(\.name) == ["conv", "relu"])
  }

  @Test func gatesAreRecognized() throws {
    for (gate, product) in [
      (UnaryFunction.sigmoid, UnaryFunction.silu), (UnaryFunction(.hardSigmoid, a: 1 / 6, b: 0.5), .hardSwish),
    ] {
      var builder = GraphBuilder(evaluator: evaluator)
      let x = try builder.input("x", TensorType(.float32, [5]))
      let g = try builder.add(Unary(gate), x, name: "gate", origin: origin("gate"))
      builder.output(try builder.add(Binary(.multiply), g, x, name: "mul", origin: origin("mul")))
      let result = try Pipeline.standard(evaluator).run(try builder.finish())
      #expect(result.graph.nodes.map { ($0.op as? Unary)?.function } == [product])
    }
  }

  @Test func anOutputThatIsAnInputIsComputed() throws {
    var builder = GraphBuilder(evaluator: evaluator)
    let x = try builder.input("x", TensorType(.float32, [2]))
    builder.output(x)
    let result = try Pipeline.standard(evaluator).run(try builder.finish())
    #expect(result.graph.outputs != result.graph.inputs)
    #expect(try reference.run(result.graph, [Tensor([Float(3), 4], [2])]).outputs[0].floats == [3, 4])
  }

  /// Random graphs of the kinds of nodes that passes look for.
  @Test(arguments: Tier.seeds(50, of: 300)) func passesKeepTheResults(seed: Int) throws {
    let (graph, inputs) = try RandomGraph.make(seed: UInt64(seed))
    let result = try Pipeline.standard(evaluator).run(graph)
    let before = try reference.run(graph, inputs).outputs
    let after = try reference.run(result.graph, inputs).outputs
    for (wanted, got) in zip(before, after) {
      let difference = Tolerance(relative: 1e-4, absolute: 1e-5).difference(of: got, from: wanted)
      #expect(difference == nil, "seed \(seed)\n\(graph)\nbecame\n\(result.graph)")
    }
  }

  /// A pass that relies on a node being the only reader of a value must count the nodes that the same pass has added.
  @Test(arguments: Tier.seeds(150, of: 1500)) func everyPassKeepsTheGraphValid(seed: Int) throws {
    var (graph, inputs) = try RandomChains.make(seed: UInt64(seed))
    for pass in Pipeline.standard(evaluator).passes {
      let before = graph
      let step = try Pipeline(passes: [pass]).run(before)
      guard !step.changes.isEmpty else { continue }
      graph = step.graph
      let got = try reference.run(graph, inputs).outputs
      for (wanted, got) in zip(try reference.run(before, inputs).outputs, got) {
        let difference = Tolerance(relative: 1e-3, absolute: 1e-3).difference(of: got, from: wanted)
        #expect(difference == nil, "seed \(seed), \(type(of: pass).name)\n\(before)\nbecame\n\(graph)")
      }
    }
  }
}

extension Double {
  fileprivate func isApproximately(_ other: Double) -> Bool { Swift.abs(self - other) < 1e-9 }
}

/// An operator that counts how often it is asked whether it is pure.
private struct Asked: Operator {
  static let name = "asked"
  static let count = Atomic<Int>(0)
  static let summary = OperatorSummary(formula: "", outputs: [])
  static let schema = AttributeSchema(Asked())

  var isPure: Bool {
    Self.count.wrappingAdd(1, ordering: .relaxed)
    return true
  }

  func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] { inputs }
}

@Suite struct NestedPassTests {
  private func nested(_ depth: Int) -> Graph {
    let type = TensorType(.float32, [1])
    let condition = TensorType(.bool, [])
    var graph = Graph()
    graph.inputs = [
      graph.addValue(Value(name: "c", type: condition)), graph.addValue(Value(name: "x", type: type)),
    ]
    graph.outputs = [graph.addValue(Value(name: "y", type: type))]
    let (inputs, outputs) = (graph.inputs, graph.outputs)
    if depth == 0 {
      graph.nodes = [Node(name: "n", op: Asked(), inputs: [inputs[1]], outputs: outputs, origins: [])]
    } else {
      let sides = [nested(depth - 1), nested(0)]
      graph.nodes = [
        Node(
          name: "b", op: Branch(results: [type]), inputs: inputs + [inputs[0]], outputs: outputs, origins: [],
          regions: zip([Region.Role.then, .otherwise], sides).map { Region(role: $0, graph: $1, captures: [2, 1]) })
      ]
    }
    return graph
  }

  @Test func purityIsQueriedAFewTimesPerNode() throws {
    func questions(_ depth: Int) throws -> Int {
      let graph = nested(depth)
      try graph.verify()
      let before = Asked.count.load(ordering: .relaxed)
      _ = try Pipeline(passes: [RemoveUnusedNodes()]).run(graph)
      return Asked.count.load(ordering: .relaxed) - before
    }
    let (few, many) = (try questions(50), try questions(200))
    #expect(few > 0 && many <= 5 * few, "\(few) questions for 50 branches in each other, \(many) for 200")
  }
}
