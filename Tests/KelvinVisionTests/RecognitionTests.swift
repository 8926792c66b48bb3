import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Expected maps: NumPy (`Tests/Vision/scene.py`).
@Suite struct RecognitionTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"
  private static let rules: [String: ImageCropAndScale] = [
    "centerCrop": .centerCrop, "scaleToFit": .scaleToFit, "scaleToFill": .scaleToFill,
  ]

  private func model(_ file: String) async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await Model.load(
      contentsOf: URL(filePath: file.hasPrefix("/") ? file : "\(VisionFixture.folder)/\(file)"),
      configuration: configuration)
  }

  @Test(arguments: [("segmenter.mlpackage", nil), ("segmenter.onnx", PixelNormalization.unit)])
  func everyPixelHasItsClass(file: String, normalization: PixelNormalization?) async throws {
    var request = try SegmentationRequest(model: try await model(file), normalization: normalization)
    let image = try ImageCodec.decode(path: VisionFixture.scene.path).pixels
    for item in try #require(VisionFixture.expected).segment {
      guard let action = Self.rules[item.rule], let orientation = ImageOrientation(rawValue: item.orientation) else {
        continue
      }
      request.cropAndScaleAction = action
      let seen = try await request.perform(on: image, orientation: orientation)
      let rows = (0..<seen.height).map { y in
        seen.labelMap[y * seen.width..<(y + 1) * seen.width].map { $0 == 255 ? "." : "\($0)" }.joined()
      }
      #expect(rows == item.rows, "\(item.rule) \(orientation)")
      let counts = seen.parts.map(\.pixelCount)
      #expect(counts == counts.sorted(by: >))
      #expect(abs(seen.parts.map(\.share).reduce(seen.unseenShare, +) - 1) < 1e-9)
    }
  }

  @Test(arguments: ImageCropAndScale.allCases)
  func pixelsOutsideTheRegionAreUnseen(rule: ImageCropAndScale) async throws {
    var request = try SegmentationRequest(model: try await model("segmenter.mlpackage"))
    request.cropAndScaleAction = rule
    request.regionOfInterest = NormalizedRect(x: 0, y: 0.5, width: 0.5, height: 0.25)
    let image = try ImageCodec.decode(path: VisionFixture.scene.path).pixels
    let seen = try await request.perform(on: image)
    for y in 0..<seen.height {
      for x in 0..<seen.width {
        // Counted from the top left; a crop leaves out more.
        let isInside = x < seen.width / 2 && y >= seen.height / 4 && y < seen.height / 2
        let isSeen = seen.labelMap[y * seen.width + x] != SegmentationObservation.unseenIndex
        #expect(isSeen == isInside || rule == .centerCrop && !isSeen, "(\(x), \(y))")
      }
    }
    request.regionOfInterest = NormalizedRect(x: 0.9, y: 0, width: 0.5, height: 1)
    await #expect(throws: VisionError.self) { try await request.perform(on: image) }
  }

  @Test func overlayRequiresTheSegmentedImage() async throws {
    let request = try SegmentationRequest(model: try await model("segmenter.mlpackage"))
    let image = try ImageCodec.decode(path: VisionFixture.scene.path).pixels
    let seen = try await request.perform(on: image)
    let overlay = try seen.overlay(on: image)
    #expect(overlay.width >= seen.width && overlay.height > seen.height)
    #expect(try ImageCodec.decode(Array(seen.labelMapPNG()), name: "map").pixels.width == seen.width)
    let other = try PixelBuffer(width: 2, height: 2, format: .rgb8, bytes: [UInt8](repeating: 0, count: 12))
    #expect(throws: VisionError.self) { try seen.overlay(on: other) }
  }

  @Test func classifiersGiveBothRequestsTheSameResults() async throws {
    let model = try await model(Self.digits)
    let url = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png")
    var request = try ClassificationRequest(model: model)
    request.cropAndScaleAction = .scaleToFill
    let classes = try await request.perform(on: url)
    let plain = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    let observations = try await plain.perform(on: url)
    #expect(classes == observations.of(ClassificationObservation.self) && classes[0].identifier == "nine")
    let renamed = try ClassificationRequest(model: model, labels: (0..<10).map { "digit \($0)" })
    #expect(try await renamed.perform(on: url)[0].identifier == "digit 9")
  }

  @Test func observationsHavePrecisionRecallCurves() async throws {
    let model = try await model("thresholds.mlmodel")
    let curves = zip(["red", "green", "blue"], try #require(VisionFixture.expected).curves)
    let known = Dictionary(uniqueKeysWithValues: curves.map { ($0, (precision: $1[0], recall: $1[1])) })
    var request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    var classify = try ClassificationRequest(model: model)
    classify.cropAndScaleAction = .scaleToFill
    var answers: [Bool] = []
    // Parts of the image with confidences from 0.1 to 0.9.
    for column in 0..<6 {
      request.regionOfInterest = NormalizedRect(x: Double(column) / 6, y: 0.25, width: 1.0 / 6, height: 0.5)
      classify.regionOfInterest = request.regionOfInterest
      let seen = try await request.perform(on: VisionFixture.scene).of(ClassificationObservation.self)
      #expect(try await classify.perform(on: VisionFixture.scene) == seen)
      #expect(seen.count == 3 && seen.allSatisfy(\.hasPrecisionRecallCurve))
      for (observation, step) in seen.flatMap({ seen in (0...8).map { (seen, Float($0) / 8) } }) {
        let (precision, recall) = try #require(known[observation.identifier])
        // The value at the smallest threshold that is not less.
        func value(_ points: [[Float]], at threshold: Float) -> Float? {
          points.filter { $0[0] >= threshold }.min { $0[0] < $1[0] }?[1]
        }
        for other in (0...8).map({ Float($0) / 8 }) {
          let recalled = recall.filter { $0[1] >= step }.map { $0[0] }.max()
          let precise = precision.filter { $0[1] >= step }.map { $0[0] }.min()
          let hasPrecision = recalled.map { threshold in
            observation.confidence >= threshold && value(precision, at: threshold).map { $0 >= other } ?? false
          }
          let hasRecall = precise.map { threshold in
            observation.confidence >= threshold && value(recall, at: threshold) ?? 0 >= other
          }
          #expect(observation.hasMinimumPrecision(other, forRecall: step) == (hasPrecision ?? false))
          #expect(observation.hasMinimumRecall(other, forPrecision: step) == (hasRecall ?? false))
          answers += [hasPrecision ?? false, hasRecall ?? false]
        }
      }
    }
    #expect(answers.contains(true) && answers.contains(false))
    // Renamed classes keep their curves; a model without curves reports that.
    let renamed = try ClassificationRequest(model: model, labels: ["r", "g", "b"])
    #expect(try await renamed.perform(on: VisionFixture.scene).allSatisfy(\.hasPrecisionRecallCurve))
    let plain = ClassificationObservation(identifier: "red", confidence: 1)
    #expect(!plain.hasPrecisionRecallCurve && !plain.hasMinimumPrecision(0, forRecall: 0))
    #expect(!plain.hasMinimumRecall(0, forPrecision: 0))
  }

  @Test func unsuitableModelsAreRefusedWithARemedy() async throws {
    let digits = try await model(Self.digits)
    #expect(throws: VisionError.invalidModel("there are 2 labels, the model has 10 classes")) {
      try ClassificationRequest(model: digits, labels: ["a", "b"])
    }
    #expect(throws: VisionError.invalidModel("the model classifies whole images")) {
      try SegmentationRequest(model: digits)
    }
    let tensor = try await model("segmenter.onnx")
    let error = #expect(throws: VisionError.self) { try SegmentationRequest(model: tensor) }
    guard case .missingNormalization = error else { return #expect(Bool(false), "\(String(describing: error))") }
    #expect(throws: VisionError.self) { try ClassificationRequest(model: digits, normalization: .unit) }
  }
}
