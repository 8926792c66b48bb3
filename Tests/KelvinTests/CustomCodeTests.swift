import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// Custom layers and custom models of Core ML, which the program implements.
@Suite struct CustomCodeTests {
  private static func url(_ name: String) -> URL {
    URL(filePath: "\(SharedFiles.projectRoot)/Tests/Vectors/Custom/\(name).mlmodel")
  }

  private static func configuration(_ code: CustomCode?) -> ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    configuration.customCode = code
    return configuration
  }

  private static func model(_ name: String, _ code: CustomCode? = standard) throws -> Model {
    try Model(contentsOf: url(name), configuration: configuration(code))
  }

  private static func array(_ numbers: [Float], _ shape: [Int]) throws -> FeatureValue {
    FeatureValue(multiArray: try MultiArray(numbers, shape: shape))
  }

  private static let standard = CustomCode(
    layer: { description in
      switch description.className {
      case "Scaled": try Scaled(description)
      case "SumAndRows": SumAndRows()
      default: nil
      }
    },
    model: { $0.className == "Caption" ? try Caption($0) : nil })

  /// `scale * x + weights[0]`.
  private struct Scaled: CustomLayer {
    let scale: Float
    let shift: [Float]

    init(_ description: CustomCodeDescription) throws {
      #expect(description.summary == "Scales and shifts." && description.name == "scaled")
      #expect(description.parameters["kind"] == .string("affine") && description.parameters["exact"] == .bool(true))
      #expect(description.parameters["count"] == .integer(-3) && description.modelDescription == nil)
      guard case .double(let scale)? = description.parameters["scale"] else { throw Failure("no scale") }
      self.scale = Float(scale)
      shift =
        description.weights.first.map { bytes in
          bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
          }
        } ?? [0]
    }

    func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] { inputShapes }

    func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray] {
      let numbers = inputs[0].floats.enumerated().map { scale * $1 + shift[$0 % shift.count] }
      return [try MultiArray(numbers, shape: inputs[0].shape)]
    }
  }

  /// The sum of two matrices, and the sums of its rows.
  private struct SumAndRows: CustomLayer {
    func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] { [inputShapes[0], [inputShapes[0][0]]] }

    func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray] {
      let sum = zip(inputs[0].floats, inputs[1].floats).map(+)
      let width = inputs[0].shape[1]
      let rows = stride(from: 0, to: sum.count, by: width).map { sum[$0..<$0 + width].reduce(0, +) }
      return [try MultiArray(sum, shape: inputs[0].shape), try MultiArray(rows, shape: [rows.count])]
    }
  }

  private struct Caption: CustomModel {
    let greeting: String

    init(_ description: CustomCodeDescription) throws {
      #expect(description.parameters["table"] == .bytes([1, 2, 255]))
      #expect(description.modelDescription?.inputNames == ["photo", "name", "numbers"])
      guard case .string(let greeting)? = description.parameters["greeting"] else { throw Failure("no greeting") }
      self.greeting = greeting
    }

    func prediction(from input: any FeatureProvider) throws -> any FeatureProvider {
      let pixels = try #require(input.featureValue(for: "photo")?.imageBufferValue).converted(to: .rgb8)
      let numbers = input.featureValue(for: "numbers")?.multiArrayValue?.floats ?? []
      let negative = try PixelBuffer(
        width: pixels.width, height: pixels.height, format: .rgb8, bytes: pixels.bytes.map { 255 - $0 })
      return DictionaryFeatureProvider(dictionary: [
        "caption": FeatureValue(string: "\(greeting) \(input.featureValue(for: "name")?.stringValue ?? "")"),
        "total": FeatureValue(double: Double(numbers.reduce(0, +))),
        "shares": FeatureValue(dictionary: [.string("a"): 0.25]), "negative": FeatureValue(pixelBuffer: negative),
      ])
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  @Test func layerRunsBetweenGraphs() async throws {
    let output = try await Self.model("chain").prediction(from: ["x": try Self.array([0, 1, 2, 3, 4, 5], [2, 3])])
    // relu(3 · (2 · (x + 1) + [0.5, -20, 4]))
    #expect(output["y"]?.multiArrayValue?.floats == [7.5, 0, 30, 25.5, 0, 48])
  }

  @Test(arguments: [("planes", [3, 2, 2], 2), ("loop", [2], 8)] as [(String, [Int], Float)])
  func layerAloneAndInLoops(name: String, shape: [Int], factor: Float) async throws {
    let numbers = (0..<shape.reduce(1, *)).map { Float($0) - 1.5 }
    let output = try await Self.model(name).prediction(from: ["x": try Self.array(numbers, shape)])
    #expect(output["y"]?.multiArrayValue?.floats == numbers.map { factor * $0 })
  }

  @Test func layersOfTheFirstVersionSeeFiveAxes() async throws {
    struct Probe: CustomLayer {
      func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
        #expect(inputShapes == [[1, 1, 3, 2, 2]])
        return inputShapes
      }
      func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray] {
        #expect(inputs.map(\.shape) == [[1, 1, 3, 2, 2]])
        return inputs
      }
    }
    let model = try Self.model("planes", CustomCode(layer: { _ in Probe() }))
    _ = try await model.prediction(from: ["x": try Self.array([Float](repeating: 1, count: 12), [3, 2, 2])])
  }

  @Test func layerReadsPreprocessedImages() async throws {
    let pixels = try PixelBuffer(width: 2, height: 2, format: .gray8, bytes: [0, 51, 102, 255])
    let output = try await Self.model("image").prediction(from: ["x": FeatureValue(pixelBuffer: pixels)])
    let found = try #require(output["y"]?.multiArrayValue?.floats)
    for (number, expected) in zip(found, [-1, -0.6, -0.2, 1] as [Float]) { #expect(abs(number - expected) < 1e-5) }
  }

  @Test func layerHasSeveralInputsAndOutputs() async throws {
    let output = try await Self.model("several").prediction(from: ["x": try Self.array([1, 2, 3, 4], [2, 2])])
    #expect(output["sum"]?.multiArrayValue?.floats == [11, 22, 33, 44])
    #expect(output["rows"]?.multiArrayValue?.floats == [33, 77])
  }

  @Test func modelTakesAndGivesFeaturesOfEveryType() async throws {
    let photo = try PixelBuffer(width: 2, height: 2, format: .rgb8, bytes: (0..<12).map { 20 * $0 })
    let output = try await Self.model("model").prediction(from: [
      "photo": FeatureValue(pixelBuffer: photo), "name": FeatureValue(string: "you"),
      "numbers": try Self.array([1, 2, 4], [3]),
    ])
    #expect(output["caption"]?.stringValue == "hello you" && output["total"]?.doubleValue == 7)
    #expect(output["shares"]?.dictionaryValue == [.string("a"): 0.25])
    let negative = try #require(output["negative"]?.imageBufferValue)
    #expect(try negative.converted(to: .rgb8).bytes == (0..<12).map { 255 - 20 * $0 })
  }

  private func check(_ code: CustomCode?, says parts: String...) async throws {
    let error = await #expect(throws: ModelError.self) {
      let model = try Self.model("chain", code)
      _ = try await model.prediction(from: ["x": try Self.array([0, 1, 2, 3, 4, 5], [2, 3])])
    }
    #expect(error?.code == .customLayer && error?.recoverySuggestion != "")
    for part in parts { #expect(error?.description.contains(part) == true, "\(error?.description ?? "no error")") }
  }

  /// Code that is missing, or that does not do what it must, and the parts of the message.
  @Test func faultsOfTheCodeAreErrors() async throws {
    struct Wrong: CustomLayer {
      var count = 1
      var shape = [2, 3]
      var error: String?
      func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
        [[Int]](repeating: [2, 3], count: count)
      }
      func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray] {
        if let error { throw Failure(error) }
        return try (0..<count).map { _ in try MultiArray(shape: shape, dataType: .float32) }
      }
    }
    try await check(nil, says: "'scaled'", "class Scaled", "no code", "ModelConfiguration.customCode")
    try await check(CustomCode(), says: "no code")
    try await check(CustomCode(layer: { _ in throw Failure("not today") }), says: "not today")
    try await check(CustomCode(layer: { _ in Wrong(error: "too warm") }), says: "too warm", "'scaled'")
    try await check(CustomCode(layer: { _ in Wrong(shape: [3, 2]) }), says: "[[2, 3]]", "[[3, 2]]")
    try await check(CustomCode(layer: { _ in Wrong(count: 2) }), says: "2 results, expected 1")
    let error = #expect(throws: ModelError.self) { try Self.model("model", nil) }
    #expect(error?.code == .customModel && error?.description.contains("class Caption") == true)
  }

  @Test func descriptionNeedsNoCode() async throws {
    let asset = ModelAsset(url: Self.url("chain"))
    #expect(try await asset.modelDescription.outputNames == ["y"])
  }
}
