import CoreML
import Foundation
import Kelvin
import Testing
import Vision

/// Predictions with states, batches, output buffers and providers of the caller.
@Suite struct PredictionTests {
  private static let accumulate = Places.root.appendingPathComponent("Tests/Vectors/Compiled/accumulate.mlmodelc")

  private final class Input: MLFeatureProvider {
    let array: MLMultiArray
    var featureNames: Set<String> { ["x"] }
    init(_ numbers: [Float]) throws { array = try MLMultiArray(numbers) }
    func featureValue(for featureName: String) -> MLFeatureValue? {
      featureName == "x" ? MLFeatureValue(multiArray: array) : nil
    }
  }

  private func configuration() -> MLModelConfiguration {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    return configuration
  }

  /// Each prediction gives twice the input plus three times what the state held before.
  @Test func statesLastUntilTheyAreWritten() async throws {
    let model = try await MLModel.load(contentsOf: Self.accumulate, configuration: configuration())
    let state = model.makeState()
    let input = try Input([1, 2])
    func next() throws -> [Double] {
      let output = try model.prediction(from: input, using: state)
      return try #require(output.featureValue(for: "either")?.multiArrayValue).kelvin.doubles
    }
    #expect(try next() == [2, 4])
    #expect(try next() == [8, 16])
    let name = try #require(model.modelDescription.stateDescriptionsByName.keys.first)
    let held = state.withMultiArray(for: name) { array in
      let old = array.kelvin.doubles
      for index in 0..<array.count { array[index] = 0 }
      return old
    }
    #expect(held.contains { $0 != 0 })
    #expect(try next() == [2, 4])
    struct Stop: Error {}
    #expect(throws: Stop.self) { try state.withMultiArray(for: name) { _ throws(Stop) in throw Stop() } }
  }

  @Test func outputsAreWrittenToBackings() throws {
    let model = try MLModel(contentsOf: Self.accumulate, configuration: configuration())
    let options = MLPredictionOptions()
    let backing = try MLMultiArray(shape: [2], dataType: .float32)
    options.outputBackings = ["either": backing]
    let output = try model.prediction(from: Input([1, 2]), using: model.makeState(), options: options)
    #expect(output.featureValue(for: "either")?.multiArrayValue === backing && backing.kelvin.floats == [2, 4])
    options.outputBackings = ["either": try MLMultiArray(shape: [3], dataType: .float32)]
    let error = try #require(throws: MLModelError.self) {
      try model.prediction(from: Input([1, 2]), using: model.makeState(), options: options)
    }
    #expect(error.code == .featureType)
  }

  @Test func batchesKeepTheirOrder() async throws {
    let model = try await MLModel.load(contentsOf: Places.digits, configuration: configuration())
    let constraint = try #require(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
    let seven = Places.nine.deletingLastPathComponent().appendingPathComponent("7_0043.png")
    let images = try [Places.nine, seven, Places.nine].map {
      try MLFeatureValue(imageAt: $0, constraint: constraint, options: [.cropAndScale: UInt(0)])
    }
    let batch = try MLArrayBatchProvider(dictionary: ["image": images])
    let results = try model.predictions(fromBatch: batch)
    let labels = (0..<results.count).map { results.features(at: $0).featureValue(for: "classLabel")?.stringValue }
    #expect(labels == ["nine", "seven", "nine"])
    #expect(throws: MLModelError.self) { try MLArrayBatchProvider(dictionary: ["a": [1], "b": [1, 2]]) }
  }

  @Test func completionHandlersAreCalled() async throws {
    let label = try await withCheckedThrowingContinuation { continuation in
      MLModel.load(contentsOf: Places.digits, configuration: configuration()) { result in
        continuation.resume(with: result.map { $0.modelDescription.predictedFeatureName })
      }
    }
    #expect(label == "classLabel")
    await #expect(throws: MLModelError.self) {
      try await withCheckedThrowingContinuation { continuation in
        MLModel.compileModel(at: URL(fileURLWithPath: "/absent.mlpackage")) { continuation.resume(with: $0) }
      }
    }
    let names = try await MLModelAsset(url: Places.digits).functionNames
    #expect(names == ["main"])
  }

  @Test func cropsAreSharesOfTheUprightImage() throws {
    let bytes: [UInt8] = [10, 20, 30, 40]
    let image = CGImage(try PixelBuffer(width: 2, height: 2, format: .gray8, bytes: bytes))
    func corner(_ rect: CGRect) throws -> UInt8? {
      let value = try MLFeatureValue(
        cgImage: image, pixelsWide: 1, pixelsHigh: 1, pixelFormatType: kCVPixelFormatType_OneComponent8,
        options: [.cropRect: rect, .cropAndScale: VNImageCropAndScaleOption.scaleFill.rawValue])
      return value.kelvin.imageBufferValue?.bytes.first
    }
    #expect(try corner(CGRect(x: 0, y: 0, width: 0.5, height: 0.5)) == 30)
    #expect(try corner(CGRect(x: 0.5, y: 0.5, width: 0.5, height: 0.5)) == 20)
    #expect(throws: MLModelError.self) { try corner(CGRect(x: 0.8, y: 0, width: 0.5, height: 0.5)) }
  }

  @Test func descriptionsHaveRawValuesOfCoreML() throws {
    let model = try MLModel(contentsOf: Places.digits, configuration: configuration())
    let image = try #require(model.modelDescription.inputDescriptionsByName["image"])
    #expect(image.type == .image && image.type.rawValue == 4 && image.imageConstraint?.pixelsWide == 64)
    #expect(image.imageConstraint?.pixelFormatType == kCVPixelFormatType_32BGRA)
    #expect((model.modelDescription.classLabels as? [String])?.contains("nine") == true)
    #expect(MLComputeUnits.all.rawValue == 2 && MLMultiArrayDataType.float32.rawValue == 65568)
    #expect(VNImageCropAndScaleOption.scaleFitRotate90CCW.rawValue == 257)
    #expect(MLMultiArrayShapeConstraintType.range.rawValue == 3 && VNErrorCode.invalidModel.rawValue == 15)
  }
}
