import GraphParsing
import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

@Suite struct GraphTextTests {
  /// Reads the dump of a graph and compares it with the original graph.
  private func expectReadBack(_ graph: Graph, _ note: Comment? = nil) throws {
    let read = try Graph(parsing: graph.description, weights: graph.weights)
    #expect(read.description == graph.description, note)
    #expect(read.canonical == graph.canonical, note)
    #expect(Set(read.weights.keys) == Set(graph.weights.keys), note)
    func compare(_ left: Graph, _ right: Graph) {
      #expect(left.nodes.map(\.origins) == right.nodes.map(\.origins), note)
      for (left, right) in zip(left.nodes, right.nodes) {
        #expect(left.op.attributes == right.op.attributes, note)
        #expect(left.regions.map(\.refusal) == right.regions.map(\.refusal), note)
        for (left, right) in zip(left.regions, right.regions) { compare(left.graph, right.graph) }
      }
    }
    compare(read, graph)
  }

  @Test func graphsOfEveryOperatorAreReadBack() throws {
    for conformanceCase in ConformanceCase.all { try expectReadBack(conformanceCase.graph, "\(conformanceCase)") }
  }

  @Test(arguments: 0..<UInt64(8))
  func randomGraphsAreReadBackAndComputeTheSame(seed: UInt64) throws {
    let (graph, inputs) = try RandomGraph.make(seed: seed, nodes: 24)
    try expectReadBack(graph, "seed \(seed)")
    let read = try Graph(parsing: graph.description, weights: graph.weights)
    let device = ReferenceDevice()
    let (wanted, got) = (try device.run(graph, inputs).outputs, try device.run(read, inputs).outputs)
    #expect(got.map(\.floats) == wanted.map(\.floats), "seed \(seed)")
  }

  @Test func regionsAndStatesAreReadBack() throws {
    let graph = try Self.controlled()
    #expect(
      graph.description == """
        input %condition: bool
        input %"a b": float32[3]
        state counter: %counter: float32[3] -> %"say \\"y\\""
        %z: float32[3] = branch results=[float32(3)](%condition, %"a b", %counter)  # pick from If(Test, 7, 0.0)
          then[1 %"a b", 2 %counter]
            input %"a b": float32[3]
            input %counter: float32[3]
            weight %w: float32[3]
            %sum: float32[3] = binary function=add(%"a b", %w)
            %more: float32[3] = binary function=add(%sum, %counter)
            output %more
          else[] refused "no 'Wave' here"
            output
        %"say \\"y\\"": float32[3] = unary function=clip(-0.0, inf)(%z)  # last
        output %z, %z
        """)
    try expectReadBack(graph)
    #expect(graph.weights.keys.map(\.regions) == [[.init(node: "pick", index: 0)]])
  }

  @Test func graphKeysDependOnRegionsButNotOrigins() throws {
    let graph = try Self.controlled()
    var other = graph
    other.nodes[0].regions[0].graph.nodes[0].op = Binary(.multiply)
    #expect(other.canonical != graph.canonical)
    other = graph
    other.nodes[0].origins = []
    #expect(other.canonical == graph.canonical)
  }

  @Test func syntaxErrorsNameTheirLine() throws {
    func message(_ text: String) -> String {
      do {
        return try Graph(parsing: text, weights: [:]).description
      } catch { return error.description }
    }
    let start = "input %x: float32[2]\n"
    #expect(message("input %x: float[2]\noutput %x") == "line 1, column 11: expected an element type, got 'float[2]'")
    #expect(
      message(start + "%y: float32[2] = wave(%x)\noutput %y") == "line 2: there is no operator 'wave'")
    #expect(
      message(start + "%y: float32[2] = unary function=relu(%z)\noutput %y")
        == "line 2: no earlier value is called 'z'")
    #expect(
      message(start + "weight %w: float32[2]\noutput %w") == "line 2: no weight 'w' of float32[2] is given")
    #expect(
      message(start + "%x: float32[2] = unary function=relu(%x)\noutput %x")
        == "line 2: the value 'x' is defined twice")
    #expect(message(start + "output %x\ninput %y: bool").contains("expected nothing after the outputs"))
    #expect(message(start) == "line 2: expected a line indented by 0 spaces, up to the line of the outputs")
    #expect(message(start + "%y: float32[3] = unary function=relu(%x)\noutput %y").contains("its outputs are declared"))
    #expect(message(start + "%y: bool = cast scalar=[[[(%x)\noutput %y").hasPrefix("line 2, column"))
  }

  @Test(arguments: 0..<UInt64(4))
  func aDamagedDumpIsAnErrorOrAnotherGraph(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let graph = try Self.controlled()
    let text = Array(graph.description.utf8)
    var refused = 0
    for _ in 0..<400 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...127, using: &random)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
        default: bytes.insert(contentsOf: bytes[place...].prefix(12), at: place)
        }
      }
      do throws(GraphError) {
        _ = try Graph(parsing: String(decoding: bytes, as: UTF8.self), weights: graph.weights)
      } catch { refused += 1 }
    }
    #expect(refused > 200, "seed \(seed)")
  }

  /// A branch with a captured value and a weight inside, one of whose sides is refused, and a state; names need quotes.
  private static func controlled() throws -> Graph {
    let type = TensorType(.float32, [3])
    func value(_ name: String) -> Value { Value(name: name, type: type) }
    var then = Graph(values: [value("a b"), value("counter"), value("w"), value("sum"), value("more")])
    then.inputs = [ValueID(0), ValueID(1)]
    then.values[2].weight = Weight(Tensor([Float(1), 2, 3], [3]))
    then.nodes = [
      Node(name: "sum", op: Binary(.add), inputs: [ValueID(0), ValueID(2)], outputs: [ValueID(3)], origins: []),
      Node(name: "more", op: Binary(.add), inputs: [ValueID(3), ValueID(1)], outputs: [ValueID(4)], origins: []),
    ]
    then.outputs = [ValueID(4)]
    var graph = Graph(values: [
      Value(name: "condition", type: TensorType(.bool, [])), value("a b"), value("counter"), value("z"),
      value("say \"y\""),
    ])
    graph.inputs = [ValueID(0), ValueID(1)]
    graph.states = [GraphState(name: "counter", read: ValueID(2), written: ValueID(4))]
    graph.nodes = [
      Node(
        name: "pick", op: Branch(results: [type]), inputs: [ValueID(0), ValueID(1), ValueID(2)], outputs: [ValueID(3)],
        origins: [Origin(name: "If", kind: "Test", index: 7)],
        regions: [
          Region(role: .then, graph: then, captures: [1, 2]),
          Region(role: .otherwise, graph: Graph(), refusal: "no 'Wave' here"),
        ]),
      Node(
        name: "last", op: Unary(.clip(-0.0, .infinity)), inputs: [ValueID(3)], outputs: [ValueID(4)], origins: []),
    ]
    graph.outputs = [ValueID(3), ValueID(3)]
    try graph.verify()
    return graph
  }
}
