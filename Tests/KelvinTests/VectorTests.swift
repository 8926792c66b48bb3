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

/// ONNX operators against vectors of an independent implementation: the reference device on the graph without passes,
/// and the CPU after passes, with the reference as fallback for nodes without kernels.
@Suite struct VectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/ONNX"
  /// The cases, as the folder of their kind and their name.
  static let cases = fileStems(in: folder, endingWith: "").flatMap { kind in
    fileStems(in: "\(folder)/\(kind)", endingWith: ".onnx").map { "\(kind)/\($0)" }
  }

  @Test func testVectorsExist() { #expect(Self.cases.count == 824) }

  @Test(arguments: cases) func outputsMatchTheVector(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    try vector.check("\(Self.folder)/\(name).onnx", name)
  }
}

/// The names of a folder's files with an ending, without it, in order.
func fileStems(in folder: String, endingWith ending: String) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
}

/// Inputs and expected outputs of one case; `Tests/Vectors/README.md` describes the file.
struct Vector {
  private struct Header: Decodable {
    struct Entry: Decodable {
      var name: String
      var type: String
      var shape: [Int]
      var offset: Int
    }
    struct Bounds: Decodable {
      var absolute: Double
      var relative: Double
    }
    var tolerance: Bounds
    /// The integer operators that the graph has after passes.
    var integers: [String]?
    var inputs: [Entry]
    var outputs: [Entry]
  }

  let inputs: [(name: String, tensor: Tensor)]
  let outputs: [(name: String, tensor: Tensor)]
  let integers: [String]
  private let bounds: Header.Bounds

  init(path: String) throws {
    let file = try Bytes(mapping: path)
    let length = file.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) }
    let header = try JSONDecoder().decode(
      Header.self, from: file.withUnsafeBytes { Data($0[12..<12 + length]) })
    func tensors(_ entries: [Header.Entry]) throws -> [(String, Tensor)] {
      try entries.map { entry in
        let type = TensorType(try #require(ScalarType(rawValue: entry.type)), Shape(entry.shape))
        let bytes = try #require(file.slice(offset: 12 + length + entry.offset, count: type.byteCount))
        return (entry.name, Tensor(type, bytes))
      }
    }
    inputs = try tensors(header.inputs)
    outputs = try tensors(header.outputs)
    bounds = header.tolerance
    integers = header.integers ?? []
  }

  /// The inputs in the graph's order and element types. Core ML has no truth values among its arrays: there they are
  /// float32.
  func inputs(of graph: Graph) throws -> [Tensor] {
    try graph.inputs.map { id in
      try #require(inputs.first { $0.name == graph[id].name }?.tensor).converted(to: graph[id].type.scalar)
    }
  }

  /// Checks a model on the reference device without passes, and then, after passes, on a device, with others as
  /// fallback for nodes without kernels.
  ///
  /// - Parameter comparesElementTypes: whether outputs have the vector's element types; false if booleans and positions
  ///   count as numbers.
  func check(
    _ model: String, _ name: String, device: String = "cpu", comparesElementTypes: Bool = true
  ) throws {
    let program = try readModel(at: model)
    let function = try #require(program.functions[program.defaultFunction])
    guard !function.graphParts.isEmpty else { return try check(function.hostOperations, name) }
    let shapes = Dictionary(uniqueKeysWithValues: inputs.map { ($0.name, $0.tensor.shape) })
    let raw = try function.graph(shapes: shapes, evaluator: ReferenceEvaluator())
    if device == "cpu" {
      // Control flow runs on the host, and so needs a plan.
      let isFlat = !raw.nodes.contains { $0.op is Loop || $0.op is Branch }
      let results = try isFlat ? ReferenceDevice().run(raw, inputs(of: raw)).outputs : raw.run(self, on: ["reference"])
      try check(raw, results, "\(name), reference", comparesElementTypes)
    }
    let graph = try Pipeline.standard(ReferenceEvaluator()).run(raw).graph
    let request = PlanRequest(units: .devices([device]), precision: .full, threads: 2)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let compiled = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory, precision: .full,
      threads: 2, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    let results = try compiled.makeSession().run(inputs(of: graph))
    try check(graph, results, "\(name), \(device) after passes", comparesElementTypes)
  }

  /// Checks a model that runs on the host alone: the last tensors that its steps leave.
  private func check(_ steps: [any HostOperation], _ what: String) throws {
    var slots = Dictionary(uniqueKeysWithValues: inputs.map { ($0.name, HostValue.tensor($0.tensor)) })
    var results: [Tensor] = []
    for step in steps {
      let read = try step.inputs.map { try #require(slots[$0], "\(what): nothing computes '\($0)'") }
      for (name, value) in zip(step.outputs, try step.run(read)) {
        slots[name] = value
        if case .tensor(let tensor) = value { results.append(tensor) }
      }
    }
    try check(Array(results.suffix(outputs.count)), what, comparesElementTypes: false)
  }

  func check(_ graph: Graph, _ results: [Tensor], _ what: String, _ comparesElementTypes: Bool = true) throws {
    try check(results, what, comparesElementTypes: comparesElementTypes)
  }

  private func check(_ results: [Tensor], _ what: String, comparesElementTypes: Bool) throws {
    #expect(results.count == outputs.count)
    for (result, (name, expected)) in zip(results, outputs) {
      let isTruth = expected.type.scalar == .bool && result.type.scalar == .float32
      #expect(result.shape == expected.shape, "\(what): output \(name)")
      let isExpected = result.type.scalar == expected.type.scalar || isTruth || !comparesElementTypes
      #expect(isExpected, "\(what): output \(name): \(result.type), expected \(expected.type)")
      let isExact = bounds.absolute == 0 && bounds.relative == 0
      if isExact, !result.type.scalar.isFloatingPoint, !expected.type.scalar.isFloatingPoint {
        #expect(result.words == expected.words, "\(what): output \(name)")
        continue
      }
      for (got, wanted) in zip(result.doubles, expected.doubles) where got != wanted && !(got.isNaN && wanted.isNaN) {
        let allowed = bounds.absolute + bounds.relative * wanted.magnitude
        #expect((got - wanted).magnitude <= allowed, "\(what): output \(name): expected \(wanted), got \(got)")
        if !((got - wanted).magnitude <= allowed) { return }
      }
    }
  }
}
