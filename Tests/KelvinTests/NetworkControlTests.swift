import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinPasses
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Branches and loops of NeuralNetworks against the same programs in NumPy: on the reference without passes, and after
/// passes on each device alone and with every node placed at random.
@Suite struct NetworkControlTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/NetworkControl"
  static let cases = fileStems(in: folder, endingWith: ".kv")

  @Test func testVectorsExist() { #expect(Self.cases.count == 123) }

  @Test(arguments: cases) func networkMatchesTheNumPyProgram(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let model = name.split(separator: "_").dropLast().joined(separator: "_")
    let program = try readModel(at: "\(Self.folder)/\(model).mlmodel")
    let function = try #require(program.functions[program.defaultFunction])
    let shapes = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor.shape) })
    let raw = try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
    #expect(raw.nodes.contains { $0.isControl }, "\(name) has no control flow")
    try vector.check(raw, raw.run(vector, on: ["reference"]), "\(name), reference")
    let passed = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    for device in Tier.some(1, of: ModelFixture.fastDevices) {
      try vector.check(passed, passed.run(vector, on: [device]), "\(name), \(device)")
    }
    for seed in Tier.seeds(UInt64(1), of: 3) {
      let pins = try passed.randomPins(seed: seed)
      try vector.check(
        passed, passed.run(vector, on: ModelFixture.fastDevices, pins: pins), "\(name), seed \(seed), \(pins)")
    }
  }

  /// Iterations run while their count is less than the number given: 2.5 makes three.
  @Test(arguments: [(2.5, 3), (0.25, 1), (3, 3), (-0.5, 0), (.nan, 0), (-.infinity, 0)] as [(Float, Float)])
  func fractionalIterationCountRoundsUp(given: Float, iterations: Float) throws {
    let program = try readModel(at: "\(Self.folder)/given_trips.mlmodel")
    let vector = try Vector(path: "\(Self.folder)/given_trips_0.kv")
    let shapes = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor.shape) })
    let function = try #require(program.functions[program.defaultFunction])
    let raw = try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    func outputs(_ count: Float) throws -> [[Double]] {
      var inputs = try vector.inputs(of: graph)
      let place = try #require(graph.inputs.firstIndex { graph[$0].name == "n" })
      inputs[place] = Tensor([count], inputs[place].shape)
      return try graph.compiled(on: ["cpu"], pins: [:]).makeSession().run(inputs).map(\.doubles)
    }
    #expect(try outputs(given) == outputs(iterations))
    if iterations > 0 { #expect(try outputs(iterations) != outputs(iterations - 1)) }
  }

  /// Invalid networks, and the messages of their errors.
  static let refusals = [("break_outside", "is not in the body of a loop")]

  @Test(arguments: refusals) func unsupportedControlFlowHasARemedy(name: String, reason: String) throws {
    let program = try readModel(at: "\(Self.folder)/Refused/\(name).mlmodel")
    let function = try #require(program.functions[program.defaultFunction])
    let error = #expect(throws: FormatError.self) {
      try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "none")")
  }
}
