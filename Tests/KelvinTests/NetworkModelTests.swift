import FoundationEssentials
import Kelvin
import KelvinImages
import TestSupport
import Testing

/// Core ML's older models as people have them, against their layers evaluated by PyTorch.
@Suite(.serialized, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
struct NetworkModelTests {
  private struct Expected: Decodable {
    struct Probabilities: Decodable {
      var name: String
      var values: [String: Double]
    }
    struct Label: Decodable {
      var name: String
      var value: String
    }
    struct Samples: Decodable {
      var shape: [Int]
      var indices: [Int]
      var values: [Double]
      var largest: Double
    }
    struct Number: Decodable {
      var name: String
      var value: Double
    }
    struct Photo: Decodable {
      var file: String
      var left: Int
      var top: Int
    }
    var input: String?
    var width: Int?
    var height: Int?
    var photo: Photo?
    var probabilities: Probabilities?
    var label: Label?
    var arrays: [String: Samples]?
    var numbers: [String: Double]?
    var result: Number?
  }

  private static func expected(_ name: String) throws -> Expected {
    let path = "\(SharedFiles.projectRoot)/Tests/Vectors/Layers/models.json"
    let all = try JSONDecoder().decode([String: Expected].self, from: Data(contentsOf: URL(filePath: path)))
    return try #require(all[name])
  }

  private static func load(_ name: String, on device: String) async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .devices([device]))
    configuration.usesCache = false
    return try await Model.load(
      contentsOf: URL(filePath: SharedFiles.path("models/\(name).mlmodel")), configuration: configuration)
  }

  /// The image that `models.py` makes up, or cuts out of a photo.
  private static func image(_ expected: Expected) throws -> PixelBuffer {
    let (width, height) = (try #require(expected.width), try #require(expected.height))
    var bytes: [UInt8] = []
    if let photo = expected.photo {
      let decoded = try ImageCodec.decode(path: SharedFiles.path(photo.file))
      #expect(decoded.pixels.format == .rgb8)
      decoded.pixels.withPixels { view in
        for row in photo.top..<photo.top + height {
          let start = view.base + row * view.bytesPerRow + 3 * photo.left
          bytes += Array(UnsafeBufferPointer(start: start, count: 3 * width))
        }
      }
      return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
    }
    for y in 0..<height {
      for x in 0..<width {
        for channel in 0..<3 { bytes.append(UInt8((7 * x + 13 * y + 59 * channel + x * y / 31) % 256)) }
      }
    }
    return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }

  private static let classifiers = [
    "SqueezeNetFP16", "SqueezeNetInt8LUT", "MobileNetV2_nn_f16", "MobileNetV2_nn_int8lin",
  ]

  @Test(arguments: classifiers, Tier.some(1, of: ModelFixture.fastDevices))
  func classifierProbabilitiesMatchPyTorch(name: String, device: String) async throws {
    let expected = try Self.expected(name)
    let model = try await Self.load(name, on: device)
    let input = try #require(expected.input)
    let image = try Self.image(expected)
    let outputs = try await model.prediction(
      from: DictionaryFeatureProvider(dictionary: [input: FeatureValue(pixelBuffer: image)]))
    let probabilities = try #require(expected.probabilities)
    let found = try #require(outputs[probabilities.name]?.dictionaryValue)
    for (label, value) in probabilities.values {
      let got = try #require(found[.string(label)])
      #expect(abs(got - value) <= 1e-5 + 1e-3 * value, "\(label) on \(device)")
    }
    let label = try #require(expected.label)
    #expect(outputs[label.name]?.stringValue == label.value)
  }

  @Test(arguments: Tier.some(1, of: ["fritz_human_pose_small", "DeepLabV3Int8LUT"]), ["cpu"])
  func networkArraysMatchPyTorch(name: String, device: String) async throws {
    let expected = try Self.expected(name)
    let model = try await Self.load(name, on: device)
    let input = try #require(expected.input)
    let image = try Self.image(expected)
    let outputs = try await model.prediction(
      from: DictionaryFeatureProvider(dictionary: [input: FeatureValue(pixelBuffer: image)]))
    for (output, samples) in try #require(expected.arrays) {
      let array = try #require(outputs[output]?.multiArrayValue)
      #expect(array.shape == samples.shape)
      var different = 0
      for (index, value) in zip(samples.indices, samples.values) {
        var (rest, position) = (index, [Int]())
        for size in array.shape.reversed() {
          position.insert(rest % size, at: 0)
          rest /= size
        }
        if abs(array[position] - value) > 1e-3 * samples.largest { different += 1 }
      }
      // On the outline of an object a label may be another.
      #expect(different <= (expected.photo == nil ? 0 : samples.values.count / 50), "\(output)")
    }
  }

  @Test func linearModelPipelineGivesItsResult() async throws {
    let expected = try Self.expected("boston_linear")
    let model = try await Self.load("boston_linear", on: "cpu")
    let inputs = try #require(expected.numbers).mapValues { FeatureValue(double: $0) }
    let outputs = try await model.prediction(from: DictionaryFeatureProvider(dictionary: inputs))
    let result = try #require(expected.result)
    let value = try #require(outputs[result.name]?.doubleValue)
    #expect(abs(value - result.value) <= 1e-5 * abs(result.value))
    let structure = try await ModelStructure.load(
      contentsOf: URL(filePath: SharedFiles.path("models/boston_linear.mlmodel")))
    if case .pipeline(let pipeline) = structure {
      #expect(pipeline.subModels.count == 2)
    } else {
      Issue.record("expected a pipeline, got \(structure)")
    }
  }

  @Test func modelThatNeedsAppleWeightsIsRefused() async throws {
    let path = SharedFiles.path("models/refused/OrientedImageClassifier_createml.mlmodel")
    await #expect {
      _ = try await Model.load(contentsOf: URL(filePath: path))
    } throws: { error in
      "\(error)".contains("visionFeaturePrint")
    }
  }
}
