import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

@Suite struct GraphTests {
  /// x → relu → y, with a weight added.
  private func sample() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [2, 3]))
    let weight = builder.constant("w", Tensor([Float](repeating: 1, count: 3), [3]))
    let sum = try builder.add(Binary(.add), x, weight, name: "sum", origin: origin)
    let y = try builder.add(Unary(.relu), sum, name: "y", origin: origin)
    builder.output(y)
    return try builder.finish()
  }

  @Test func dumpShowsEveryPart() throws {
    #expect(
      try sample().description == """
        input %x: float32[2x3]
        weight %w: float32[3]
        %sum: float32[2x3] = binary function=add(%x, %w)  # sum from layer(Test, 0, 66.0)
        %y: float32[2x3] = unary function=relu(%sum)  # y from layer(Test, 0, 54.0)
        output %y
        """)
  }

  /// Branches around a node of an operator.
  private func nested(_ depth: Int, _ op: any Operator, refusal: String? = nil) -> Node {
    guard depth > 0 else { return Node(name: "n", op: op, inputs: [], outputs: [], origins: []) }
    let inner = Graph(nodes: [nested(depth - 1, op, refusal: refusal)])
    return Node(
      name: "b", op: Branch(results: []), inputs: [], outputs: [], origins: [],
      regions: [Region(role: .then, graph: inner, refusal: depth == 1 ? refusal : nil)])
  }

  @Test func nodeIsPureWhenItsRegionsArePure() {
    #expect(nested(3, Unary(.relu)).isPure)
    #expect(!nested(3, RandomKey(seed: 1)).isPure)
    #expect(!nested(3, Unary(.relu), refusal: "lacks an operator").isPure)
    var graph = Graph(nodes: [nested(3, RandomKey(seed: 1)), nested(2, Unary(.relu))])
    // A change of a region changes the result.
    let pure = graph.mappingRegions { region, node in
      node.name == "b" && region.graph.nodes.contains { $0.op is RandomKey } ? Graph() : nil
    }
    #expect(pure?.nodes.map(\.isPure) == [true, true])
    graph.nodes[1].regions[0].graph.nodes[0].regions[0].graph.nodes[0].op = RandomKey(seed: 2)
    #expect(graph.nodes.map(\.isPure) == [false, false])
    graph.nodes[0].regions[0].graph.nodes = []
    graph.nodes[1].regions[0].refusal = "lacks an operator"
    #expect(graph.nodes.map(\.isPure) == [true, false])
  }

  @Test func regionsAreVisitedOnceFromTheInside() {
    var visited: [Int] = []
    let graph = Graph(nodes: [nested(3, Unary(.relu))])
    let same = graph.mappingRegions { region, _ in
      visited.append(region.graph.nodes[0].regions.count)
      return nil
    }
    #expect(same == nil && visited == [0, 1, 1])
    let changed = graph.mappingRegions { region, _ in region.graph.nodes[0].regions.isEmpty ? Graph() : nil }
    #expect(
      changed?.nodes[0].regions[0].graph.nodes[0].regions[0].graph.nodes[0].regions[0].graph.nodes.isEmpty == true)
  }

  @Test func smallConstantsAreComputedWhileBuilding() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "shape", kind: "Test", index: 0)
    let sizes = builder.constant("sizes", Tensor([Int64(2), 3, 5], [3]))
    let picked = try builder.add(
      Gather(axis: 0), sizes, builder.constant("at", Tensor([Int64(2), 0], [2])), name: "picked", origin: origin)
    #expect(builder.constantTensor(picked)?.integers == [5, 2])
    #expect(builder.graph.nodes.isEmpty)
  }

  @Test func duplicateNamesGetANumber() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "a", kind: "Test", index: 0)
    let x = try builder.input("a", TensorType(.float32, [1]))
    let y = try builder.add(Unary(.relu), x, name: "a", origin: origin)
    #expect(builder.graph[y].name == "a~2")
  }

  @Test func verifierNamesTheInvalidNode() throws {
    var wrongType = try sample()
    wrongType.values[2].type = TensorType(.float32, [3, 2])
    #expect(throws: GraphError.self) { try wrongType.verify() }

    var wrongOrder = try sample()
    wrongOrder.nodes.reverse()
    let error = #expect(throws: GraphError.self) { try wrongOrder.verify() }
    #expect(error?.description.contains("unary 'y'") == true)
    #expect(error?.description.contains("before it is computed") == true)

    var unknownValue = try sample()
    unknownValue.nodes[0].inputs[0] = ValueID(99)
    #expect(throws: GraphError.self) { try unknownValue.verify() }

    var writtenTwice = try sample()
    writtenTwice.nodes[1].outputs = writtenTwice.nodes[0].outputs
    #expect(throws: GraphError.self) { try writtenTwice.verify() }
  }

  @Test func everyFloat16SurvivesTheRoundTrip() {
    for bits in UInt16.min...UInt16.max {
      let value = Float(halfBits: bits)
      if value.isNaN { continue }
      #expect(Double(value).halfBits == bits)
    }
  }

  @Test func finiteNumbersStayFiniteAsFloat16() {
    let numbers: [(Float, Float)] = [
      (1e9, 65504), (-3.4e38, -65504), (65519, 65504), (65520, 65504), (-0.5, -0.5), (.infinity, .infinity),
    ]
    for (number, half) in numbers { #expect(Float(halfBits: number.finiteHalfBits) == half, "\(number)") }
    #expect(Float(halfBits: Float.nan.finiteHalfBits).isNaN)
  }

  @Test func weightsKnowWhetherFloat16HoldsThem() throws {
    let whole = Weight(Tensor([Float(1), 0.1], [2]))
    let half = try whole.converted(to: .float16)
    #expect(!whole.isHeldByFloat16 && half.isHeldByFloat16)
    #expect(try half.converted(to: .float32).isHeldByFloat16)
    #expect(try !whole.converted(to: .float64).isHeldByFloat16)
  }

  @Test func float16RoundsToNearestEven() {
    #expect(Double(1 + 0x1p-11).halfBits == 0x3C00)
    #expect(Double(1 + 3 * 0x1p-11).halfBits == 0x3C02)
    #expect(Double(65519.99).halfBits == 0x7BFF)
    #expect(Double(65520).halfBits == 0x7C00)
    #expect(Double(0x1p-25).halfBits == 0)
    #expect((0x1p-25 + 0x1p-40).halfBits == 1)
  }

  @Test func conversionsSaturateAndTruncate() {
    let values = [-1e30, -1.9, -0.5, 0, 1.9, 300, 1e30, .nan]
    let type = TensorType(.uint8, [values.count])
    #expect(Tensor(type, rounding: values).integers == [0, 0, 0, 0, 1, 255, 255, 0])
    let wide = Tensor(TensorType(.int64, [values.count]), rounding: values)
    #expect(wide.integers == [.min, -1, 0, 0, 1, 300, .max, 0])
  }

  @Test func broadcastingFollowsNumPy() {
    #expect(Shape([3, 1, 5]).broadcast(with: [4, 1]) == [3, 4, 5])
    #expect(Shape([]).broadcast(with: [2]) == [2])
    #expect(Shape([]).broadcast(with: []) == [])
    #expect(Shape([2]).broadcast(with: [3]) == nil)
  }

  @Test func windowOutputSizesMatchTheFormula() throws {
    #expect(try Window(kernel: [3], strides: [2], before: [1]).outputSizes([13]) == [7])
    #expect(try Window(kernel: [3], strides: [2], before: [0], roundsUp: true).outputSizes([6]) == [3])
    // A last window may not start beyond input and leading padding.
    #expect(try Window(kernel: [1], strides: [3], before: [0], after: [1], roundsUp: true).outputSizes([3]) == [1])
    #expect(throws: OperatorError.self) { try Window(kernel: [5]).outputSizes([4]) }
    #expect(throws: OperatorError.self) { try Window(kernel: [0]).outputSizes([4]) }
  }
}
