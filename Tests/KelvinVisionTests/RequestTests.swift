import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// A request of our own: the mean of the red samples in a region's pixels.
private struct MeanRed: ImageProcessingRequest {
  var regionOfInterest = NormalizedRect.fullImage
  var fails = false

  func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> Double {
    if fails { throw .invalidRequest("no mean today") }
    let reds = stride(from: 0, to: image.bytes.count, by: 3).map { Double(image.bytes[$0]) }
    return reds.reduce(0, +) / Double(reds.count)
  }
}

@Suite struct RequestTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"
  private static func digit(_ name: String) -> URL {
    URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/\(name)")
  }

  @Test func requestsOfSeveralTypesShareOneImage() async throws {
    let digits = CoreMLRequest(model: try await VisionFixture.container(Self.digits))
    let segments = CoreMLRequest(model: try await VisionFixture.container("segmenter.mlpackage"))
    let handler = ImageRequestHandler(Self.digit("9_0125.png"))
    let (classes, mean, values) = try await handler.perform(digits, MeanRed(), segments)
    #expect(classes.of(ClassificationObservation.self).first?.identifier == "nine")
    #expect((1..<254).contains(mean))
    #expect(values.of(CoreMLFeatureValueObservation.self).map(\.featureName) == ["classes"])
    #expect(try await handler.perform(MeanRed()) == mean)
  }

  @Test func videoFrameIsReadInPlace() async throws {
    let request = CoreMLRequest(model: try await VisionFixture.container(Self.digits))
    let image = try ImageCodec.decode(path: Self.digit("9_0125.png").path).pixels
    let (width, height) = (image.width, image.height)
    let luma = stride(from: 0, to: image.bytes.count, by: 3).map { image.bytes[$0] }
    let chroma = [UInt8](repeating: 128, count: (width + 1) / 2 * 2 * ((height + 1) / 2))
    let gray = try PixelBuffer(width: width, height: height, format: .gray8, bytes: luma)
    let expected = try await ImageRequestHandler(gray).perform(request).of(ClassificationObservation.self)
    let found = try luma.withUnsafeBytes { luma in
      try chroma.withUnsafeBytes { chroma in
        let frame = try PixelBuffer(
          width: width, height: height, format: .yCbCr709Full,
          planes: [
            PixelPlane(try #require(luma.baseAddress), bytesPerRow: width),
            PixelPlane(try #require(chroma.baseAddress), bytesPerRow: (width + 1) / 2 * 2),
          ])
        return try ImageRequestHandler(frame).perform(request).of(ClassificationObservation.self)
      }
    }
    #expect(found == expected && found.first?.identifier == "nine")
  }

  @Test func failedRequestDoesNotStopTheOthers() async throws {
    let digits = CoreMLRequest(model: try await VisionFixture.container(Self.digits))
    let handler = ImageRequestHandler(Self.digit("3_0103.jpg"))
    var kinds: [String] = []
    for await result in handler.performAll([MeanRed(), MeanRed(fails: true), digits]) {
      switch result {
      case .coreML(_, let observations): kinds.append(observations.of(ClassificationObservation.self)[0].identifier)
      case .other(_, let mean): kinds.append(mean is Double ? "mean" : "?")
      case .error(let request, let error): kinds.append("\(type(of: request)): \(error)")
      }
    }
    #expect(kinds == ["mean", "MeanRed: no mean today", "three"])
    await #expect(throws: VisionError.invalidRequest("no mean today")) {
      try await handler.perform(digits, MeanRed(fails: true))
    }
  }

  @Test func classesAreSortedByConfidence() async throws {
    let request = CoreMLRequest(model: try await VisionFixture.container(Self.digits))
    let all = try await request.perform(on: Self.digit("9_0125.png")).of(ClassificationObservation.self)
    #expect(all.count == 10)
    #expect(all.map(\.confidence) == all.map(\.confidence).sorted(by: >))
    #expect(all.filter(minimumConfidence: 0.5).map(\.identifier) == ["nine"])
    #expect(all.shuffled().top(3) == Array(all.prefix(3)))
  }

  @Test func otherOutputsHaveFullConfidence() async throws {
    let request = CoreMLRequest(model: try await VisionFixture.container("segmenter.mlpackage"))
    let found = try await request.perform(on: VisionFixture.scene)
    let value = try #require(found.first as? CoreMLFeatureValueObservation)
    #expect(found.count == 1)
    #expect(value.confidence == 1)
    #expect(value.featureValue.multiArrayValue?.shape == [16, 24])
  }

  @Test func requestReadsOnlyItsRegion() async throws {
    var request = CoreMLRequest(model: try await VisionFixture.container("segmenter.mlpackage"))
    func classes() async throws -> Set<Double> {
      let found = try await request.perform(on: VisionFixture.scene).of(CoreMLFeatureValueObservation.self)
      return Set(found.first?.featureValue.multiArrayValue?.doubles ?? [])
    }
    #expect(try await classes() == [0, 1, 2, 3])
    // The red block lies in the upper left part, which from the lower left corner is the larger y.
    request.regionOfInterest = NormalizedRect(x: 0.125, y: 0.5625, width: 0.25, height: 0.25)
    #expect(try await classes() == [1])
    request.regionOfInterest = NormalizedRect(x: 0.4, y: 0.2, width: 0.4, height: 0.25)
    #expect(try await classes() == [2])
  }

  @Test func regionsOutsideTheImageAreRefused() async throws {
    var request = CoreMLRequest(model: try await VisionFixture.container("segmenter.mlpackage"))
    for (x, y, width, height) in [(0.5, 0, 0.6, 1), (0, 0, 0, 1), (-0.1, 0, 0.5, 0.5), (0, .nan, 1, 1)] {
      request.regionOfInterest = NormalizedRect(x: x, y: y, width: width, height: height)
      let asked = request
      let error = await #expect(throws: VisionError.self, "\(x), \(y), \(width), \(height)") {
        try await asked.perform(on: VisionFixture.scene)
      }
      #expect(error?.description.contains("region of interest") == true)
    }
  }

  @Test func handlerReadsItsFileOnceAndNotBeforeTheFirstRequest() async throws {
    let folder = TemporaryFolder()
    let copy = "\(folder.path)/nine.png"
    let handler = ImageRequestHandler(URL(filePath: copy))
    let request = CoreMLRequest(model: try await VisionFixture.container("segmenter.mlpackage"))
    try FileManager.default.copyItem(atPath: Self.digit("9_0125.png").path, toPath: copy)
    let first = try await handler.perform(request)
    try FileManager.default.removeItem(atPath: copy)
    let again = { () throws(VisionError) in try handler.perform(request) }
    #expect(try again().count == first.count && !first.isEmpty)
  }

  @Test func invalidImageOrModelIsReported() async throws {
    let model = try await VisionFixture.container("segmenter.mlpackage").model
    let request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    for handler in [
      ImageRequestHandler(URL(filePath: "/nonexistent.jpg")), ImageRequestHandler(Data("no image".utf8)),
    ] {
      // The second attempt gives the error of the first.
      for _ in 0..<2 {
        let error = await #expect(throws: VisionError.self) { try await handler.perform(request) }
        guard case .image = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
    }
    #expect(throws: VisionError.self) { try CoreMLModelContainer(model: model, inputImageFeatureName: "sound") }
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let plain = try await Model.load(
      contentsOf: URL(filePath: "\(VisionFixture.folder)/segmenter.onnx"), configuration: configuration)
    let error = #expect(throws: VisionError.self) { try CoreMLModelContainer(model: plain) }
    #expect(error?.description.contains("'pixels'") == true)
  }
}
