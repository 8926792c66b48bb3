import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

/// ONNX's control flow against vectors of an independent implementation: on the reference without passes, and after
/// passes on each device alone and with every node placed at random.
@Suite struct ControlVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Control"
  static let cases = fileStems(in: folder, endingWith: ".kv")

  @Test func testVectorsExist() { #expect(Self.cases.count == 21) }

  private func graph(of name: String, _ vector: Vector) throws -> Graph {
    let model = name.split(separator: "_").dropLast().joined(separator: "_")
    let program = try readModel(at: "\(Self.folder)/\(model).onnx")
    let function = try #require(program.functions[program.defaultFunction])
    let shapes = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor.shape) })
    return try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
  }

  @Test(arguments: cases) func outputsMatchTheVector(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let raw = try graph(of: name, vector)
    try vector.check(raw, raw.run(vector, on: ["reference"]), "\(name), reference")
    let passed = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    for device in ModelFixture.fastDevices {
      try vector.check(passed, passed.run(vector, on: [device]), "\(name), \(device)")
    }
    for seed in Tier.seeds(UInt64(2), of: 12) {
      let pins = try passed.randomPins(seed: seed)
      try vector.check(
        passed, passed.run(vector, on: ModelFixture.fastDevices, pins: pins), "\(name), seed \(seed), \(pins)")
    }
  }
}
