import CoreML
import CoreVideo
import Foundation
import ImageIO
import Kelvin
import Testing
import Vision

/// Vision's first generation: requests that keep their results, and handlers that block.
@Suite struct ClassicTests {
  private static let fixtures = Places.root.appendingPathComponent("Tests/Vision")

  private static func model(_ url: URL) throws -> VNCoreMLModel {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    configuration.kelvin.usesCache = false
    return try VNCoreMLModel(for: MLModel(contentsOf: url, configuration: configuration))
  }

  private static func fixture(_ name: String) throws -> VNCoreMLModel {
    try model(fixtures.appendingPathComponent(name))
  }

  /// Returns the pixels of an image that is turned by an orientation.
  private static func buffer(of image: URL, _ orientation: CGImagePropertyOrientation) throws -> CVPixelBuffer {
    let value = try MLFeatureValue(
      imageAt: image, orientation: orientation, pixelsWide: 200, pixelsHigh: 200,
      pixelFormatType: kCVPixelFormatType_32BGRA, options: nil)
    return try #require(value.imageBufferValue)
  }

  private static func top(_ request: VNCoreMLRequest) -> String? {
    (request.results?.first as? VNClassificationObservation)?.identifier
  }

  @Test func requestsKeepAndReportTheirResults() throws {
    var told: [String] = []
    let digits = VNCoreMLRequest(model: try Self.model(Places.digits)) { request, error in
      let first = request.results?.first as? VNClassificationObservation
      told.append("\(first?.identifier ?? "none") \(error == nil)")
    }
    let values = VNCoreMLRequest(model: try Self.fixture("segmenter.mlpackage"))
    #expect(digits.imageCropAndScaleOption == .centerCrop && digits.results == nil)
    let handler = VNImageRequestHandler(url: Places.nine)
    try handler.perform([digits, values])
    try handler.perform([digits])
    #expect(told == ["nine true", "nine true"])
    let classes = try #require(digits.results as? [VNClassificationObservation])
    #expect(classes.count == 10 && Set(classes.map(\.uuid)).count == 10)
    #expect(classes.allSatisfy { $0.uuid == $0.kelvin.uuid })
    #expect(classes.allSatisfy { !$0.hasPrecisionRecallCurve && !$0.hasMinimumPrecision(0, forRecall: 0) })
    #expect(values.results?.first is VNCoreMLFeatureValueObservation)
  }

  @Test func bothGenerationsGiveTheSameResults() async throws {
    let scene = Self.fixtures.appendingPathComponent("scene.png")
    let model = try Self.fixture("detector.mlmodel")
    let classic = VNCoreMLRequest(model: model)
    classic.imageCropAndScaleOption = .scaleFill
    try VNImageRequestHandler(url: scene).perform([classic])
    let found = try #require(classic.results as? [VNRecognizedObjectObservation])
    let boxes = try await Self.modernBoxes(of: scene)
    #expect(found.map(\.boundingBox) == boxes.map(\.box) && !found.isEmpty)
    #expect(found.map { $0.labels.map(\.identifier) } == boxes.map(\.labels))
  }

  /// Returns the boxes and labels that a request of Vision's second generation finds.
  private static func modernBoxes(of image: URL) async throws -> [(box: CGRect, labels: [String])] {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let url = fixtures.appendingPathComponent("detector.mlmodel")
    let model = try await MLModel.load(contentsOf: url, configuration: configuration)
    var request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    request.cropAndScaleAction = .scaleToFill
    let found = try await request.perform(on: image)
    return found.compactMap { $0 as? RecognizedObjectObservation }.map {
      ($0.boundingBox.cgRect, $0.labels.map(\.identifier))
    }
  }

  @Test func sequenceHandlerAcceptsEveryImageSource() throws {
    let request = VNCoreMLRequest(model: try Self.model(Places.digits))
    let handler = VNSequenceRequestHandler()
    try handler.perform([request], onImageURL: Places.nine)
    #expect(Self.top(request) == "nine")
    let seven = Places.nine.deletingLastPathComponent().appendingPathComponent("7_0043.png")
    try handler.perform([request], onImageData: try Data(contentsOf: seven))
    #expect(Self.top(request) == "seven")
    try handler.perform([request], on: try Self.buffer(of: Places.nine, .up))
    let upright = try #require(request.results as? [VNClassificationObservation])
    try handler.perform([request], on: try Self.buffer(of: Places.nine, .down), orientation: .down)
    let turned = try #require(request.results as? [VNClassificationObservation])
    #expect(upright.map(\.confidence) == turned.map(\.confidence) && upright.first?.identifier == "nine")
    #expect(throws: VNError.self) { try handler.perform([request], onImageURL: URL(fileURLWithPath: "/absent.png")) }
    #expect(request.results == nil)
  }

  @Test func handlersAcceptOptions() throws {
    let request = VNCoreMLRequest(model: try Self.model(Places.digits))
    let options: [VNImageOption: Any] = [
      .properties: ["Orientation": 1], .cameraIntrinsics: [Float](repeating: 0, count: 9),
    ]
    for handler in [
      VNImageRequestHandler(url: Places.nine, options: options),
      VNImageRequestHandler(data: try Data(contentsOf: Places.nine), orientation: .up, options: options),
      VNImageRequestHandler(cvPixelBuffer: try Self.buffer(of: Places.nine, .up), options: [:]),
    ] {
      try handler.perform([request])
      #expect(Self.top(request) == "nine")
    }
  }

  @Test func failedRequestDoesNotStopTheOthers() throws {
    var errors = 0
    let model = try Self.model(Places.digits)
    let outside = VNCoreMLRequest(model: model) { _, error in errors += error is VNError ? 1 : 0 }
    outside.regionOfInterest = CGRect(x: 2, y: 0, width: 1, height: 1)
    let whole = VNCoreMLRequest(model: model)
    #expect(throws: VNError.self) { try VNImageRequestHandler(url: Places.nine).perform([outside, whole]) }
    #expect(errors == 1 && outside.results == nil && whole.results?.count == 10)
    let absent = VNImageRequestHandler(url: URL(fileURLWithPath: "/absent.png"))
    #expect(throws: VNError.self) { try absent.perform([whole]) }
    #expect(whole.results == nil)
  }
}
