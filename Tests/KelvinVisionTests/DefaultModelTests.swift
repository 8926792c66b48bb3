import FoundationEssentials
import Glibc
import Kelvin
import KelvinVision
import TestSupport
import Testing

@Suite struct DefaultModelTests {
  @Test func defaultModelIsRequiredAndUsed() async {
    // A child process, because the configuration belongs to the process.
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      setenv("XDG_CONFIG_HOME", "\(folder.path)/config", 1)
      setenv("KELVIN_CACHE_DIR", "\(folder.path)/cache", 1)
      let digits = "\(SharedFiles.projectRoot)/Examples/Digits"
      let nine = URL(filePath: "\(digits)/images/9_0125.png")
      let error = await #expect(throws: VisionError.self) { try await ClassifyImageRequest().perform(on: nine) }
      guard case .missingModel(let reason) = error else { exit(1) }
      #expect(reason.contains("kelvin use") && reason.contains("DefaultModel"))
      try DefaultModel(url: URL(filePath: "\(digits)/Digits.mlpackage")).configure()
      let handler = ImageRequestHandler(nine)
      let (first, second) = try await handler.perform(ClassifyImageRequest(), ClassifyImageRequest())
      #expect(first.count == 10 && first == second && first[0].identifier == "nine")
      try DefaultModel.forget()
      await #expect(throws: VisionError.self) { try await ClassifyImageRequest().perform(on: nine) }
    }
  }

  @Test(arguments: [
    (#"{"model": "/m.onnx", "normalization": "imagnet"}"#, "'imagnet' is not a normalization"),
    (#"{"model": "m.onnx"}"#, "does not name"), (#"{"model": ""}"#, "does not name"),
    (#"{"model": 7}"#, "does not name"), ("", "does not name"),
  ])
  func invalidFileIsRefused(text: String, reason: String) {
    let folder = TemporaryFolder()
    let path = folder.write(Array(text.utf8), "default-model.json")
    let error = #expect(throws: VisionError.self) { try DefaultModel(storedIn: path) }
    #expect(error?.description.contains(reason) == true && error?.description.contains("kelvin use") == true)
  }

  @Test func storedFileGivesTheChoice() throws {
    let folder = TemporaryFolder()
    let text = #"{"labels": ["otter"], "model": "/m.onnx", "normalization": "imagenet"}"#
    let model = try DefaultModel(storedIn: folder.write(Array(text.utf8), "default-model.json"))
    let expected = DefaultModel(
      url: URL(filePath: "/m.onnx"), labels: ["otter"], normalization: PixelNormalization(rawValue: "imagenet"))
    #expect(model == expected)
  }

  /// Records the address of the given image.
  private struct Witness: ImageProcessingRequest {
    var regionOfInterest = NormalizedRect.fullImage

    func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> Int {
      image.bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
  }

  @Test func requestsOnOneHandlerShareTheDecodedImage() async throws {
    let folder = TemporaryFolder()
    let path = folder.copy("\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png", as: "nine.png")
    let handler = ImageRequestHandler(URL(filePath: path))
    let (a, b, c) = try await handler.perform(Witness(), Witness(), Witness())
    // Decoding the image again would fail, because the file no longer exists.
    #expect(unlink(path) == 0)
    var places: Set<Int> = [a, b, c]
    for await result in handler.performAll([Witness(), Witness()]) {
      if case .other(_, let place) = result, let place = place as? Int { places.insert(place) }
    }
    #expect(places.count == 1)
  }
}
