import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Vision's first generation: requests that keep their results, and a handler that blocks.
@Suite struct ClassicTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"
  private static let nine = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png")

  private static func model(_ name: String) throws -> VNCoreMLModel {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let path = name.hasPrefix("/") ? name : "\(VisionFixture.folder)/\(name)"
    return try VNCoreMLModel(for: try Model(contentsOf: URL(filePath: path), configuration: configuration))
  }

  @Test func requestsKeepAndReportTheirResults() throws {
    var told: [String] = []
    let digits = VNCoreMLRequest(model: try Self.model(Self.digits)) { request, error in
      let first = request.results?.first as? VNClassificationObservation
      told.append("\(first?.identifier ?? "none") \(error == nil)")
    }
    let values = VNCoreMLRequest(model: try Self.model("segmenter.mlpackage"))
    #expect(digits.imageCropAndScaleOption == .centerCrop && digits.results == nil)
    let handler = VNImageRequestHandler(url: Self.nine)
    try handler.perform([digits, values])
    try handler.perform([digits])
    #expect(told == ["nine true", "nine true"])
    let classes = try #require(digits.results as? [VNClassificationObservation])
    #expect(classes.count == 10 && Set(classes.map(\.uuid)).count == 10)
    #expect(classes.allSatisfy { !$0.hasPrecisionRecallCurve && !$0.hasMinimumPrecision(0, forRecall: 0) })
    #expect(values.results?.first is VNCoreMLFeatureValueObservation)
  }

  @Test func everyObservationHasItsOwnUUID() async throws {
    let request = CoreMLRequest(model: try await VisionFixture.container(Self.digits))
    let first = try await request.perform(on: Self.nine).of(ClassificationObservation.self)
    let again = try await request.perform(on: Self.nine).of(ClassificationObservation.self)
    #expect(first == again && Set(first + again).count == 10)
    #expect(Set((first + again).map(\.uuid)).count == 20)
    let copies = first.sorted { $0.identifier < $1.identifier }
    #expect(Set(copies.map(\.uuid)) == Set(first.map(\.uuid)) && copies.map(\.uuid) == copies.map(\.uuid))
    let text = Array(first[0].uuid.uuidString)
    #expect(text[14] == "4" && "89AB".contains(text[19]))
  }

  @Test func bothInterfacesGiveTheSameResults() async throws {
    let scene = URL(filePath: "\(VisionFixture.folder)/scene.png")
    var modern = CoreMLRequest(model: try await VisionFixture.container("detector.mlmodel"))
    modern.cropAndScaleAction = .scaleToFill
    let expected = try await modern.perform(on: scene).of(RecognizedObjectObservation.self)
    let blocking = { () throws(VisionError) in try ImageRequestHandler(scene).perform(modern) }
    #expect(try blocking().of(RecognizedObjectObservation.self) == expected && !expected.isEmpty)
    let classic = VNCoreMLRequest(model: try Self.model("detector.mlmodel"))
    classic.imageCropAndScaleOption = .scaleFill
    try VNImageRequestHandler(url: scene).perform([classic])
    let found = try #require(classic.results as? [VNRecognizedObjectObservation])
    #expect(found.map(\.boundingBox) == expected.map(\.boundingBox))
    #expect(found.map { $0.labels.map(\.identifier) } == expected.map { $0.labels.map(\.identifier) })
  }

  @Test func sequenceHandlerAcceptsEveryImageSource() throws {
    let request = VNCoreMLRequest(model: try Self.model(Self.digits))
    let handler = VNSequenceRequestHandler()
    func top() -> String? { (request.results?.first as? VNClassificationObservation)?.identifier }
    try handler.perform([request], onImageURL: Self.nine)
    #expect(top() == "nine")
    let seven = Self.nine.deletingLastPathComponent().appending(path: "7_0043.png")
    try handler.perform([request], onImageData: try Data(contentsOf: seven))
    #expect(top() == "seven")
    let pixels = try ImageCodec.decode(path: Self.nine.path).pixels
    try handler.perform([request], on: pixels)
    let upright = try #require(request.results as? [VNClassificationObservation])
    try handler.perform([request], on: pixels.oriented(.down), orientation: .down)
    let turned = try #require(request.results as? [VNClassificationObservation])
    #expect(upright.map(\.confidence) == turned.map(\.confidence) && upright.first?.identifier == "nine")
    #expect(throws: VisionError.self) { try handler.perform([request], onImageURL: URL(filePath: "/absent.png")) }
    #expect(request.results == nil)
  }

  @Test func handlersAcceptOptions() throws {
    let request = VNCoreMLRequest(model: try Self.model(Self.digits))
    let options: [VNImageOption: Any] = [
      .properties: ["Orientation": 1], .cameraIntrinsics: [Float](repeating: 0, count: 9),
    ]
    let pixels = try ImageCodec.decode(path: Self.nine.path).pixels
    for handler in [
      VNImageRequestHandler(url: Self.nine, options: options),
      VNImageRequestHandler(data: try Data(contentsOf: Self.nine), orientation: .up, options: options),
      VNImageRequestHandler(pixelBuffer: pixels, options: [:]),
    ] {
      try handler.perform([request])
      #expect((request.results?.first as? VNClassificationObservation)?.identifier == "nine")
    }
  }

  @Test func failedRequestDoesNotStopTheOthers() throws {
    var errors = 0
    let model = try Self.model(Self.digits)
    let outside = VNCoreMLRequest(model: model) { _, error in errors += error is VisionError ? 1 : 0 }
    outside.regionOfInterest = NormalizedRect(x: 2, y: 0, width: 1, height: 1)
    let whole = VNCoreMLRequest(model: model)
    #expect(throws: VisionError.self) { try VNImageRequestHandler(url: Self.nine).perform([outside, whole]) }
    #expect(errors == 1 && outside.results == nil && whole.results?.count == 10)
    let absent = VNImageRequestHandler(url: URL(filePath: "/absent.png"))
    #expect(throws: VisionError.self) { try absent.perform([whole]) }
    #expect(whole.results == nil)
  }
}
