import ConformanceChecks
import FoundationEssentials
import Kelvin
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Quantized ONNX operators and models against ONNX Runtime's integer kernels: the processor's kernels on integers, and the
/// float bodies that other devices run, on the reference device.
@Suite struct QuantizedVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Quantized"
  static let cases: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".onnx") }.map { String($0.dropLast(5)) }.sorted()

  /// Models with products of dynamically quantized rows and constant weights.
  private static let dynamicLayers: Set<String> = ["dynamic_quantize_matmul", "network_dynamic", "perceptron_dynamic"]

  @Test func testVectorsExist() { #expect(Self.cases.count > 50) }

  @Test(arguments: cases) func outputsMatchTheVector(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let program = try readModel(at: "\(Self.folder)/\(name).onnx")
    let function = try #require(program.functions[program.defaultFunction])
    let shapes = Dictionary(uniqueKeysWithValues: vector.inputs.map { ($0.name, $0.tensor.shape) })
    let raw = try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let operators = Set(graph.nodes.map(\.op.name))
    for integer in vector.integers { #expect(operators.contains(integer), "\(name) has \(operators)") }
    #expect(operators.contains("linear_integer") == Self.dynamicLayers.contains(name), "\(name) has \(operators)")
    if name.contains("_qdq_") || name.contains("_qoperator_") {
      #expect(operators.isDisjoint(with: ["convolution", "linear", "matmul", "binary"]))
    }

    let request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 2)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let model = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory, precision: .full,
      threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    try vector.check(graph, try model.makeSession().run(vector.inputs(of: graph)), "\(name), cpu")
    guard !operators.contains("binary_integer") else { return }
    try vector.check(graph, try ReferenceDevice().run(graph, vector.inputs(of: graph)).outputs, "\(name), bodies")
  }

  /// Logits of the real model, bit for bit those of ONNX Runtime.
  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func quantizedMobileNetIsExact() throws {
    let loaded = try ModelFixture.load(SharedFiles.path("models/MobileNetV2_int8_qdq.onnx"))
    let graph = loaded.context.graph
    #expect(!graph.nodes.contains { $0.op is Convolution || $0.op is Binary })
    let request = PlanRequest(units: .devices(["cpu"]), isStrict: true, precision: .full, threads: 2)
    let solution = try loaded.context.planner.problem(graph, request).solve()
    let session = try loaded.context.compile(solution, precision: .full, threads: 2).makeSession()
    let vector = try Vector(path: "\(Self.folder)/mobilenetv2_photos.kv")
    #expect(vector.outputs.count == 6)
    for (photo, expected) in vector.outputs {
      let input = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_input.npy")
      let logits = try #require(
        zip(graph.outputs, session.run([input])).first { graph[$0.0].name.hasPrefix("logits") }?.1)
      #expect(logits.floats == expected.floats, "\(photo)")
    }
  }
}
