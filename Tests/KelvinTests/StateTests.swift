import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// ML Programs with blocks and states, made with coremltools, through the public face on every device.
@Suite struct StateTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/MILControl"

  private func model(_ name: String, _ device: String) throws -> Model {
    var configuration = ModelConfiguration()
    configuration.computeUnits = .devices([device])
    configuration.cacheDirectory = nil
    return try Model(contentsOf: URL(filePath: "\(Self.folder)/\(name).mlpackage"), configuration: configuration)
  }

  private func step(_ name: String, _ number: Int) throws -> (input: DictionaryFeatureProvider, vector: Vector) {
    let vector = try Vector(path: "\(Self.folder)/\(name)_\(number).kv")
    let values = vector.inputs.map { ($0.name, FeatureValue(multiArray: MultiArray($0.tensor))) }
    return (DictionaryFeatureProvider(dictionary: Dictionary(uniqueKeysWithValues: values)), vector)
  }

  private func check(_ output: DictionaryFeatureProvider, _ vector: Vector, _ what: String) throws {
    for (name, expected) in vector.outputs {
      let got = try #require(output[name]?.multiArrayValue, "\(what): no output \(name)").tensor
      #expect(got.count == expected.count, "\(what): \(name)")
      for (got, wanted) in zip(got.doubles, expected.doubles) {
        #expect(abs(got - wanted) <= 1e-6 + 1e-6 * abs(wanted), "\(what): \(name)")
      }
    }
  }

  @Test(arguments: ModelFixture.fastDevices, ["choice", "halving"])
  func blocksMatchTheFormula(device: String, name: String) throws {
    let model = try model(name, device)
    for number in 0..<(name == "choice" ? 2 : 3) {
      let (input, vector) = try step(name, number)
      try check(try model.prediction(from: input), vector, "\(name)_\(number) on \(device)")
    }
  }

  @Test(arguments: ModelFixture.fastDevices) func statesAreIndependent(device: String) throws {
    let model = try model("counter", device)
    let (first, second) = (model.makeState(), model.makeState())
    for number in 0..<4 {
      let (input, vector) = try step("counter", number)
      try check(try model.prediction(from: input, using: first), vector, "step \(number) on \(device)")
      if number == 0 { try check(try model.prediction(from: input, using: second), vector, "its twin on \(device)") }
    }
    let name = try #require(first.names.first)
    let sums = try first.withMultiArray(for: name) { $0.tensor.doubles }
    #expect(sums == [4, 8, 6])
    #expect(try second.withMultiArray(for: name) { $0.tensor.doubles } == [1, 2, 0])
    try first.withMultiArray(for: name) { $0 = MultiArray(Tensor(TensorType(.float16, [3]), rounding: [10, 0, 0])) }
    let (input, _) = try step("counter", 0)
    let output = try model.prediction(from: input, using: first)
    #expect(output["before"]?.multiArrayValue?.tensor.doubles == [10, 0, 0])
  }

  /// A state that one side of a branch writes and the other reads; two that a loop and a branch inside it write.
  @Test(arguments: ModelFixture.fastDevices, ["gate", "gathering"])
  func blocksUpdateStates(device: String, name: String) throws {
    let model = try model(name, device)
    let state = model.makeState()
    for number in 0..<4 {
      let (input, vector) = try step(name, number)
      try check(try model.prediction(from: input, using: state), vector, "\(name), step \(number) on \(device)")
    }
  }

  @Test(arguments: Tier.seeds(UInt64(3), of: 12), ["counter", "gate", "gathering"])
  func statesAgreeUnderAnyPlacement(seed: UInt64, name: String) throws {
    let program = try readModel(at: "\(Self.folder)/\(name).mlpackage")
    let function = try #require(program.functions[program.defaultFunction])
    let raw = try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let pins = try graph.randomPins(seed: seed)
    let compiled = try graph.compiled(on: ModelFixture.fastDevices, pins: pins)
    let state = StateMemory()
    for number in 0..<4 {
      let (_, vector) = try step(name, number)
      let results = try state.borrowing { try state.session(of: compiled).run(vector.inputs(of: graph)) }
      for (output, result) in zip(function.outputs.map(\.name), results) {
        let wanted = try #require(vector.outputs.first { $0.name == output }?.tensor)
        #expect(result.doubles == wanted.doubles, "\(name), step \(number), seed \(seed): \(output), \(pins)")
      }
    }
  }

  @Test func statefulModelRequiresItsState() throws {
    let model = try model("counter", "cpu")
    let (input, _) = try step("counter", 0)
    let error = #expect(throws: ModelError.self) { try model.prediction(from: input) }
    #expect(error?.code == .parameters)
    #expect(error?.description.contains("makeState()") == true)
  }

  /// State written by a run that failed because of its data is kept, and is therefore lost with a device.
  @Test func stateWrittenByAFailedRunCountsAsUsed() throws {
    let program = try readModel(at: "\(Self.folder)/counter.mlpackage")
    let raw = try #require(program.functions[program.defaultFunction]).graph(
      shapes: [:], evaluator: ReferenceEvaluator())
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let compiled = try graph.compiled(on: ["cpu"], pins: [:])
    let inputs = try step("counter", 0).vector.inputs(of: graph)
    let (fresh, used) = (StateMemory(), StateMemory())
    let wrong = RuntimeError.device(.index(9, outside: 3, device: "cpu", node: "gather"))
    let lost = RuntimeError.device(DeviceError(.lost, device: "cpu", place: "test", reason: "wanted"))
    #expect(throws: RuntimeError.self) { try used.borrowing { try used.using(compiled) { _ in throw wrong } } }
    for state in [fresh, used] {
      #expect(throws: RuntimeError.self) { try state.borrowing { try state.using(compiled) { _ in throw lost } } }
    }
    _ = try fresh.borrowing { try fresh.using(compiled) { try $0.run(inputs) } }
    let error = #expect(throws: RuntimeError.self) {
      try used.borrowing { try used.using(compiled) { try $0.run(inputs) } }
    }
    #expect(error?.description.contains("the state that the prediction was using is lost") == true)
  }

  @Test func stateServesOneModelAndOnePrediction() throws {
    let (model, other) = (try model("counter", "cpu"), try model("choice", "cpu"))
    let (input, _) = try step("counter", 0)
    let foreign = #expect(throws: ModelError.self) { try model.prediction(from: input, using: other.makeState()) }
    #expect(foreign?.description.contains("another model") == true)
    let state = model.makeState()
    try state.memory.borrowing {
      let busy = #expect(throws: ModelError.self) { try model.prediction(from: input, using: state) }
      #expect(busy?.code == .parameters)
      #expect(busy?.description.contains("in use by another prediction") == true)
    }
    _ = try model.prediction(from: input, using: state)
  }
}
