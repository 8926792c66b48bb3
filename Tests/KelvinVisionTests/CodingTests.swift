import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Geometry and observations as JSON.
@Suite struct CodingTests {
  private func decoded<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
  }

  @Test func boxesHaveTheKeysOfTheCommandLine() throws {
    let box = NormalizedRect(x: 0.25, y: 0.5, width: 0.125, height: 0.0625)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(
      String(decoding: try encoder.encode(box), as: UTF8.self) == #"{"height":0.0625,"width":0.125,"x":0.25,"y":0.5}"#)
    #expect(try decoded(box) == box)
    let rect = ImageRect(x: 1, y: 2, width: 3, height: 4)
    #expect(try decoded(rect) == rect)
  }

  @Test func decodedObservationsAreCopies() throws {
    let cat = ClassificationObservation(identifier: "cat", confidence: 0.75)
    let copy = try decoded(cat)
    #expect(copy == cat && copy.uuid == cat.uuid)
    let object = RecognizedObjectObservation(
      labels: [cat], boundingBox: NormalizedRect(x: 0, y: 0, width: 1, height: 0.5))
    let again = try decoded(object)
    #expect(again == object && again.uuid == object.uuid && again.labels[0].uuid == cat.uuid)
    let wrist = Joint(jointName: "leftWrist", location: NormalizedPoint(x: 0.5, y: 0.25), confidence: 0.5)
    let pose = HumanBodyPoseObservation(joints: [.leftWrist: wrist], confidence: 0.5)
    #expect(try decoded(pose) == pose && decoded(pose).uuid == pose.uuid)
  }

  @Test func newObservationsHaveUniqueIdentifiers() {
    let made = (0..<1000).map { _ in ClassificationObservation(identifier: "cat", confidence: 1).uuid }
    #expect(Set(made).count == 1000)
    #expect(made.allSatisfy { Array($0.uuidString)[14] == "4" })
  }

  @Test func curvesAreEncodedWithTheirClass() async throws {
    let folder = TemporaryFolder()
    let path = folder.copy("\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx", as: "Digits.onnx")
    folder.write(
      #"{"format": "kelvin-curves", "version": 1, "classes": {"nine": {"precision": [[0.5, 0.9]], "recall": [[0.5, 0.8]]}}}"#,
      "Digits.onnx.curves.json")
    let request = try ClassificationRequest(model: try Model(contentsOf: URL(filePath: path)))
    let seen = try await request.perform(
      on: URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png"))
    let nine = try decoded(seen[0])
    #expect(nine.hasPrecisionRecallCurve && nine.hasMinimumPrecision(0.9, forRecall: 0.8))
    #expect(nine == seen[0])
    #expect(request.precisionRecallCurveShare == 0.1)
    #expect(
      request.curveRemark?.hasPrefix("only 10.0 % of the classes have") == true, "\(request.curveRemark ?? "none")")
    let damaged = try JSONEncoder().encode(seen[0])
    let text = String(decoding: damaged, as: UTF8.self).replacing("[0.5,", with: "[")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ClassificationObservation.self, from: Data(text.utf8))
    }
  }

  @Test func segmentsAreEncodedWithNamesAndColours() throws {
    let whole = try SegmentationObservation(
      labelMap: [0, 1, 1, 2, 255, 1], width: 3, height: 2, labels: ["sky", "cat", "dog"], colors: ["#010203", "", ""])
    let kept = try whole.restricted(to: ["cat"])
    for observation in [whole, kept] {
      let copy = try decoded(observation)
      #expect(copy.labelMap == observation.labelMap && (copy.width, copy.height) == (3, 2))
      #expect(copy.parts == observation.parts && copy.uuid == observation.uuid)
      #expect(copy.color(of: 0) == "#010203" && copy.label(of: 2) == "dog")
      #expect(try copy.mask(for: "cat").bytes == observation.mask(for: "cat").bytes)
    }
    let text = String(decoding: try JSONEncoder().encode(whole), as: UTF8.self)
    for (part, other) in [
      ("\"width\":3", "\"width\":4"), ("\"height\":2", "\"height\":-2"), ("\"classCount\":3", "\"classCount\":-1"),
    ] {
      #expect(text.contains(part))
      #expect(throws: DecodingError.self, "\(other)") {
        try JSONDecoder().decode(SegmentationObservation.self, from: Data(text.replacing(part, with: other).utf8))
      }
    }
  }

  /// A half of 0.1 and a NaN: numbers whose bits a decimal text would lose.
  @Test func imagesAndValuesKeepTheirBits() throws {
    let pixels = try PixelBuffer(width: 2, height: 3, format: .bgra8, bytes: (0..<24).map { UInt8($0) })
    let image = PixelBufferObservation(featureName: "stylized", pixelBuffer: pixels)
    #expect(try decoded(image) == image && decoded(image).uuid == image.uuid)

    let strided = try MultiArray(shape: [2, 3], dataType: .float16, strides: [1, 2])
    for index in 0..<6 { strided[index] = index == 4 ? .nan : Double(index) / 10 }
    let numbers = try MultiArray([0.1, -.infinity], shape: [2, 1])
    let rectangle = PixelRect(x: 1, y: 0, width: 1, height: 2)
    let values: [FeatureValue] = [
      FeatureValue(int64: .min), 0.1, "e\u{301}", FeatureValue(multiArray: strided), FeatureValue(pixelBuffer: pixels),
      FeatureValue(image: pixels, orientation: .right, cropAndScale: .centerCrop, cropRect: rectangle),
      FeatureValue(dictionary: ["e\u{301}": 0.25, "\u{e9}": 0.5, 7: 0.125]),
      FeatureValue(sequence: FeatureSequence(strings: ["a", "b"], shape: [1, 2])),
      FeatureValue(sequence: FeatureSequence(int64s: [])),
      FeatureValue(sequence: FeatureSequence(dictionaries: [["cat": 1], [:]])),
      FeatureValue(sequence: FeatureSequence(multiArrays: [numbers])), FeatureValue(undefined: .state),
    ]
    for value in values {
      let observation = CoreMLFeatureValueObservation(featureName: "result", featureValue: value)
      let copy = try decoded(observation)
      #expect(copy == observation && copy.uuid == observation.uuid, "\(value)")
    }
  }

  @Test func wrongValuesAreRefused() throws {
    let array = try MultiArray([0.1, 0.2], shape: [1, 2])
    let observation = CoreMLFeatureValueObservation(
      featureName: "result", featureValue: FeatureValue(multiArray: array))
    let text = String(decoding: try JSONEncoder().encode(observation), as: UTF8.self)
    for (part, other) in [
      ("[1,2]", "[1,3]"), ("[1,2]", "[-1,-2]"), ("[1,2]", "[4611686018427387904,8]"), ("\"float32\"", "\"float33\""),
      ("\"float32\"", "\"bool\""), ("\"multiArray\"", "\"state\""), ("\"multiArray\"", "\"image\""),
    ] {
      #expect(text.contains(part))
      #expect(throws: DecodingError.self, "\(other)") {
        try JSONDecoder().decode(CoreMLFeatureValueObservation.self, from: Data(text.replacing(part, with: other).utf8))
      }
    }
    let pixels = try PixelBuffer(width: 2, height: 1, format: .gray8, bytes: [1, 2])
    let image = String(
      decoding: try JSONEncoder().encode(PixelBufferObservation(featureName: "mask", pixelBuffer: pixels)),
      as: UTF8.self)
    for (part, other) in [("\"width\":2", "\"width\":-2"), ("gray8", "grey8"), ("\"height\":1", "\"height\":9")] {
      #expect(image.contains(part))
      #expect(throws: DecodingError.self, "\(other)") {
        try JSONDecoder().decode(PixelBufferObservation.self, from: Data(image.replacing(part, with: other).utf8))
      }
    }
  }

  @Test func filterWithoutCurvesSaysSoOnce() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let cat = ClassificationObservation(identifier: "cat", confidence: 1)
      precondition(!cat.hasMinimumPrecision(0.5, forRecall: 0.5))
      precondition(!cat.hasMinimumRecall(0.5, forPrecision: 0.5))
      precondition(!ConfidenceFilter(minimumPrecision: 0.5).keeps(cat))
      precondition(ConfidenceFilter(minimumConfidence: 0.5).keeps(cat))
    }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 1, "\(lines)")
    #expect(lines.first?.contains("'cat'") == true && lines.first?.contains("kelvin evaluate --save-curves") == true)
  }
}
