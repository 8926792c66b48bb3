import FoundationEssentials
import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import Testing

/// The example's two models are one network: both formats must read into the same function.
@Suite struct DigitsTests {
  private static let folder = "\(Shared.packageRoot)/Examples/Digits"

  private struct Expected: Decodable {
    struct Case: Decodable { var probabilities: [String: Float] }
    var tensor: Case
  }

  private static let labels = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

  /// `image[0, c, y, x] = (7 y + 13 x + 31 c + x y) mod 256`
  private var image: [Float] {
    (0..<3 * 64 * 64).map { index -> Float in
      let (c, y, x) = (index / 4096, index / 64 % 64, index % 64)
      let sum: Int = 7 * y + 13 * x + 31 * c + x * y
      return Float(sum % 256)
    }
  }

  @Test(arguments: ["Digits.onnx", "Digits.mlpackage"]) func givesTheExpectedProbabilities(name: String) throws {
    let data = try Bytes(mapping: "\(Self.folder)/expected.json").withUnsafeBytes { Data($0) }
    let expected = try JSONDecoder().decode(Expected.self, from: data).tensor.probabilities
    let program = try readModel(at: "\(Self.folder)/\(name)")
    let graph = try program.graph()
    let classifier = try #require(try program.main.classification)
    #expect(classifier.labels == .strings(Self.labels))
    let scalar = graph[graph.inputs[0]].type.scalar
    let results = try run(graph, [Tensor(image, [1, 3, 64, 64]).converted(to: scalar)])
    let scores = try #require(try program.main.graphParts[0].outputs.firstIndex(of: classifier.scores))
    let probabilities = results[scores].floats
    #expect(probabilities.count == 10)
    for (label, probability) in zip(Self.labels, probabilities) {
      #expect(abs(probability - (try #require(expected[label]))) < 5e-3, "\(label)")
    }
  }

  @Test func bothFormatsHaveTheSameImageInput() throws {
    for name in ["Digits.onnx", "Digits.mlpackage"] {
      let inputs = try readModel(at: "\(Self.folder)/\(name)").main.inputs
      #expect(inputs.map(\.name) == ["image"])
      guard case .image(let image) = inputs[0].type else {
        Issue.record("\(name) takes \(inputs[0].type)")
        continue
      }
      #expect(image.tensorShape == [1, 3, 64, 64] && image.layout == .rgb)
      #expect(image.scale == [1, 1, 1] && image.bias == [0, 0, 0])
    }
  }

  @Test func onnxGraphHasOneNodePerOperation() throws {
    #expect(try readModel(at: "\(Self.folder)/Digits.onnx").graph().nodes.count == 53)
  }
}
