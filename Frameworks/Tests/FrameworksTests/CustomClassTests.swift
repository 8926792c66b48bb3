import CoreML
import Foundation
import Kelvin
import Testing

/// Classes of the program for custom layers and models.
@Suite struct CustomClassTests {
  private static let folder = Places.root.appendingPathComponent("Tests/Vectors/Custom")

  private static func model(_ name: String) throws -> MLModel {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    configuration.kelvin.usesCache = false
    return try MLModel(contentsOf: folder.appendingPathComponent("\(name).mlmodel"), configuration: configuration)
  }

  /// `scale * x + weights[0]`, as a program for Core ML has it.
  private final class Scaled: NSObject, MLCustomLayer {
    private let scale: Float
    private var shift: [Float] = [0]

    init(parameters: [String: Any]) throws {
      scale = (parameters["scale"] as? NSNumber)?.floatValue ?? 0
      #expect(parameters["kind"] as? String == "affine" && (parameters["exact"] as? NSNumber)?.boolValue == true)
      super.init()
    }

    func setWeightData(_ weights: [Data]) throws {
      guard let first = weights.first else { return }
      shift = first.withUnsafeBytes { bytes in
        (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
      }
    }

    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] { inputShapes }

    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
      for index in 0..<inputs[0].count {
        outputs[0][index] = NSNumber(value: scale * inputs[0][index].floatValue + shift[index % shift.count])
      }
    }
  }

  private final class Caption: NSObject, MLCustomModel {
    private let greeting: String

    init(modelDescription: MLModelDescription, parameters: [String: Any]) throws {
      #expect(modelDescription.inputDescriptionsByName.count == 3)
      #expect(parameters["table"] as? Data == Data([1, 2, 255]))
      greeting = parameters["greeting"] as? String ?? ""
      super.init()
    }

    func prediction(from input: any MLFeatureProvider, options: MLPredictionOptions) throws -> any MLFeatureProvider {
      let photo = try #require(input.featureValue(for: "photo")?.imageBufferValue)
      return try MLDictionaryFeatureProvider(dictionary: [
        "caption": "\(greeting) \(input.featureValue(for: "name")?.stringValue ?? "")", "total": 7.0,
        "shares": ["a": 0.25], "negative": MLFeatureValue(pixelBuffer: photo),
      ])
    }
  }

  @Test func registeredClassesComputeLayersAndModels() throws {
    MLModel.register(Scaled.self, className: "Scaled")
    MLModel.register(Caption.self, className: "Caption")
    let x = try MLMultiArray(shape: [2, 3], dataType: .float32)
    for index in 0..<6 { x[index] = NSNumber(value: index) }
    let output = try Self.model("chain").prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": x]))
    let y = try #require(output.featureValue(for: "y")?.multiArrayValue)
    #expect((0..<6).map { y[$0].floatValue } == [7.5, 0, 30, 25.5, 0, 48])
    let photo = try MLFeatureValue(
      imageAt: Places.nine, pixelsWide: 2, pixelsHigh: 2, pixelFormatType: kCVPixelFormatType_32BGRA, options: nil)
    let input = try MLDictionaryFeatureProvider(dictionary: [
      "photo": photo, "name": "you", "numbers": try MLMultiArray([1.0, 2, 4]),
    ])
    let said = try Self.model("model").prediction(from: input)
    #expect(said.featureValue(for: "caption")?.stringValue == "hello you")
    #expect(said.featureValue(for: "shares")?.dictionaryValue["a"] == 0.25)
  }

  @Test func missingClassIsAnErrorOfCoreML() throws {
    let error = #expect(throws: MLModelError.self) { try Self.model("several") }
    #expect(error?.code == .customLayer && error?.localizedDescription.contains("SumAndRows") == true)
    #expect(error?.errorCode == 4)
  }
}
