import ConformanceChecks
import FoundationEssentials
import Glibc
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

/// Encoded weights against coremltools' decompression of them; `Tests/CompressedWeights/README.md` describes the files.
@Suite struct CompressedWeightTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/CompressedWeights"
  static let jointModels: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasPrefix("joint_") && $0.hasSuffix(".kv") }.map { String($0.dropLast(3)) }.sorted()

  private func graph(_ name: String) throws -> Graph {
    let program = try readModel(at: "\(Self.folder)/\(name).mlpackage")
    let function = try #require(program.functions[program.defaultFunction])
    return try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
  }

  @Test(arguments: ["constexpr_ios16", "constexpr_ios18"])
  func everyOperationDecompressesExactly(name: String) throws {
    let graph = try graph(name)
    let expected = try Vector(path: "\(Self.folder)/\(name).kv").outputs
    #expect(graph.outputs.count == expected.count && expected.count >= 40)
    for (output, (label, tensor)) in zip(graph.outputs, expected) {
      let weight = try #require(graph[output].weight, "\(label) is a constant")
      let dense = weight.dense()
      #expect(dense.type == tensor.type, "\(label)")
      #expect(dense.contents == tensor.contents, "\(label)")
      #expect(weight.isCompressed != label.hasSuffix("cast"), "\(label)")
    }
  }

  @Test(arguments: jointModels)
  func jointlyCompressedModelsRun(name: String) throws {
    let raw = try graph(name)
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    for (layer, tensor) in vector.outputs where layer != "result" {
      let node = try #require(raw.nodes.first { $0.name == layer })
      let weight = try #require(raw[node.inputs[1]].weight)
      #expect(weight.dense().contents == tensor.contents, "weights of \(layer)")
      #expect(weight.isCompressed, "weights of \(layer)")
      // The many tables of the scaled form take more than what they compress in layers this small.
      let isSmaller = weight.storedByteCount < tensor.type.byteCount * 7 / 8
      #expect(isSmaller != (name == "joint_palettized_scaled"), "weights of \(layer)")
    }
    let result = try run(raw, vector)[0].floats
    let expected = try #require(vector.outputs.first { $0.name == "result" }).tensor.floats
    for (got, wanted) in zip(result, expected) { #expect(abs(got - wanted) <= 1e-4 * max(1, abs(wanted)), "\(name)") }
    #expect(result.count == expected.count && Self.jointModels.count >= 10)
  }

  @Test func quantizedActivationsAgree() throws {
    let graph = try graph("quantize_ios17")
    let vector = try Vector(path: "\(Self.folder)/quantize_ios17.kv")
    #expect(vector.outputs.count == 16)
    try vector.check(graph, try ReferenceDevice().run(graph, vector.inputs(of: graph)).outputs, "reference")
    try vector.check(graph, try run(graph, vector), "cpu after passes")
  }

  /// The outputs after passes, on the CPU.
  private func run(_ raw: Graph, _ vector: Vector) throws -> [Tensor] {
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 2)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let model = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory, precision: .full,
      threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    return try model.makeSession().run(vector.inputs(of: graph))
  }

  @Test(arguments: 1...8) func weightsOfNeuralNetworksUnpackAndDecompress(bits: Int) throws {
    let vector = try Vector(path: "\(Self.folder)/networks.kv")
    func tensor(_ name: String) throws -> Tensor {
      try #require(vector.outputs.first { $0.name == "\(name)_\(bits)" }).tensor
    }
    let codes = try tensor("codes")
    let packed = Weight(
      try PackedIntegers(tensor("packed").bytes, bits: bits, order: .mostSignificantFirst, shape: codes.shape))
    #expect(packed.dense().contents == codes.contents)
    let linear = try Weight(
      affine: packed, scale: Weight(tensor("scale").reshaped(to: [3, 1])),
      bias: Weight(tensor("bias").reshaped(to: [3, 1])))
    #expect(try linear.dense().contents == tensor("linear").contents)
    let table = try tensor("table").reshaped(to: [1, 1, 1 << bits, 1])
    #expect(try Weight(palettized: packed, table: Weight(table)).dense().contents == tensor("looked_up").contents)
  }
}

/// The shared compressed models, against ONNX Runtime on the same programs with weights that coremltools decompressed.
@Suite(.serialized, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
struct CompressedModelTests {
  @Test(arguments: ["int8", "pal6"], Tier.some(1, of: ModelFixture.fastDevices))
  func mobileNetsScoresAgreeWithAnIndependentRun(compression: String, device: String) throws {
    let loaded = try ModelFixture.load(SharedFiles.path("models/MobileNetV2_\(compression).mlpackage"))
    let graph = loaded.context.graph
    let request = PlanRequest(units: .devices([device]), precision: .full, threads: 2)
    let solution = try loaded.context.planner.problem(graph, request).solve()
    #expect(solution.placement.values.contains(device))
    let session = try loaded.context.compile(solution, precision: .full, threads: 2).makeSession()
    let vector = try Vector(
      path: "\(SharedFiles.projectRoot)/Tests/CompressedWeights/mobilenetv2_\(compression).kv")
    let table = try String(contentsOfFile: SharedFiles.path("expected/mobilenetv2_photos_top5.tsv"), encoding: .utf8)
    var asUncompressed = 0
    for (photo, expected) in vector.outputs {
      let normalized = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_input.npy")
      let pixels = Tensor(normalized.floats.map { (($0 + 1) * 127.5).rounded() }, normalized.shape)
      let input = pixels.converted(to: graph[graph.inputs[0]].type.scalar)
      let probabilities = try #require(session.run([input]).first { $0.count == expected.count }?.floats)
      let powers = expected.doubles.map { exp($0) }
      let wanted = powers.map { Float($0 / powers.reduce(0, +)) }
      let best = try #require(wanted.indices.max { wanted[$0] < wanted[$1] })
      let difference = zip(probabilities, wanted).map { abs($0 - $1) }.max() ?? .infinity
      #expect(difference < 0.02, "\(photo) on \(device)")
      #expect(probabilities.indices.max { probabilities[$0] < probabilities[$1] } == best, "\(photo) on \(device)")
      if table.contains(".jpg\t1\t\(best)\t") || table.contains(".bmp\t1\t\(best)\t") { asUncompressed += 1 }
    }
    #expect(asUncompressed >= (compression == "int8" ? 6 : 3), "photos that are named as by the uncompressed model")
  }
}

extension Tensor {
  fileprivate var contents: [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
