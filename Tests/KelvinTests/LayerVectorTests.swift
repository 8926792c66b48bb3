import FoundationEssentials
import KelvinDevices
import KelvinFormats
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

/// Layers of Core ML's NeuralNetwork, and its models that are not networks, each in a file of its own, against NumPy's and
/// PyTorch's formulas: the graph as it is read, and after passes.
@Suite struct LayerVectorTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Vectors/Layers").path
  static let cases: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".mlmodel") }.map { String($0.dropLast(8)) }.sorted()

  @Test func theVectorsAreThere() { #expect(Self.cases.count > 180) }

  @Test(arguments: cases) func aLayerComputesWhatItsFormulaSays(name: String) throws {
    let vector = try LayerVector(path: "\(Self.folder)/\(name).kv")
    let program = try readModel(at: "\(Self.folder)/\(name).mlmodel")
    let function = try #require(program.functions[program.defaultFunction])
    let raw = try function.graph.graph(
      shapes: vector.inputs.mapValues(\.shape), evaluator: ReferenceEvaluator())
    try vector.check(raw, name)
    try vector.check(try Pipeline.standard(ReferenceEvaluator()).run(raw).graph, "\(name) after passes")
  }
}

/// Inputs and expected outputs of one case; `Tests/Vectors/README.md` describes the file.
struct LayerVector {
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
    var inputs: [Entry]
    var outputs: [Entry]
  }

  let inputs: [String: Tensor]
  let outputs: [(name: String, tensor: Tensor)]
  private let bounds: Header.Bounds

  init(path: String) throws {
    let file = try Bytes(mapping: path)
    let length = file.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) }
    let header = try JSONDecoder().decode(Header.self, from: file.withUnsafeBytes { Data($0[12..<12 + length]) })
    func tensor(_ entry: Header.Entry) throws -> Tensor {
      let type = TensorType(try #require(ScalarType(rawValue: entry.type)), Shape(entry.shape))
      return Tensor(type, try #require(file.slice(offset: 12 + length + entry.offset, count: type.byteCount)))
    }
    inputs = Dictionary(uniqueKeysWithValues: try header.inputs.map { ($0.name, try tensor($0)) })
    outputs = try header.outputs.map { ($0.name, try tensor($0)) }
    bounds = header.tolerance
  }

  /// Compares shapes and values; truth values and positions count as numbers.
  func check(_ graph: Graph, _ what: String) throws {
    let given = try graph.inputs.map { try #require(inputs[graph[$0].name]).converted(to: graph[$0].type.scalar) }
    let results = try ReferenceDevice().run(graph, given).outputs
    #expect(results.count == outputs.count)
    for (result, (name, expected)) in zip(results, outputs) {
      #expect(result.shape == expected.shape, "\(what): output \(name)")
      for (got, wanted) in zip(result.doubles, expected.doubles) where got != wanted {
        let allowed = bounds.absolute + bounds.relative * wanted.magnitude
        #expect((got - wanted).magnitude <= allowed, "\(what): output \(name): expected \(wanted), got \(got)")
        if !((got - wanted).magnitude <= allowed) { return }
      }
    }
  }
}
