import FoundationEssentials
import Kelvin
import KelvinVision
import Testing

/// Expected objects: NumPy (`Tests/Vision/scene.py`).
@Suite struct DetectionTests {
  private func matches(
    _ found: [RecognizedObjectObservation], _ expected: [VisionFixture.Expected.Detection.Object]
  ) -> Bool {
    guard found.count == expected.count else { return false }
    return expected.allSatisfy { object in
      found.contains { observation in
        let box = observation.boundingBox
        let sides = [box.origin.x, box.origin.y, box.width, box.height]
        let scores = Dictionary(observation.labels.map { ($0.identifier, $0.confidence) }) { first, _ in first }
        return zip(sides, object.box).allSatisfy { abs($0 - $1) < 1e-5 }
          && object.scores.allSatisfy { abs(Double(scores[$0.key] ?? -1) - $0.value) < 5e-3 }
      }
    }
  }

  @Test func objectsAreCorrectUnderEveryCropAndScale() async throws {
    let container = try await VisionFixture.container("detector.mlmodel")
    let cases = try #require(VisionFixture.expected).detect
    #expect(cases.count == 15)
    let size = ImageSize(width: 48, height: 32)
    for item in cases {
      var request = CoreMLRequest(model: container)
      request.cropAndScaleAction = try #require(ImageCropAndScale(rawValue: item.rule))
      if let region = item.region?.map(Double.init) {
        let rect = ImageRect(x: region[0], y: region[1], width: region[2], height: region[3])
        request.regionOfInterest = NormalizedRect(imageRect: rect, in: size, origin: .upperLeft)
      }
      let handler = ImageRequestHandler(
        VisionFixture.scene, orientation: ImageOrientation(rawValue: item.orientation))
      let found = try await handler.perform(request)
      let objects = found.of(RecognizedObjectObservation.self)
      #expect(objects.count == found.count)
      #expect(matches(objects, item.objects), "\(item.rule), \(item.orientation), \(item.region ?? []): \(objects)")
    }
  }

  @Test func labelsAreSortedByConfidence() async throws {
    var request = CoreMLRequest(model: try await VisionFixture.container("detector.mlmodel"))
    let all = try await request.perform(on: VisionFixture.scene).of(RecognizedObjectObservation.self)
    #expect(all.count > 3)
    for object in all {
      #expect(object.labels.count == 3)
      #expect(object.labels.map(\.confidence) == object.labels.map(\.confidence).sorted(by: >))
      #expect(object.confidence == object.labels.first?.confidence)
    }
    let confidences = all.map(\.confidence).sorted(by: >)
    request.minimumConfidence = confidences[2]
    let sure = try await request.perform(on: VisionFixture.scene)
    #expect(sure.count == confidences.filter { $0 >= confidences[2] }.count)
    request.minimumConfidence = -.infinity
    request.maximumObservationCount = 2
    #expect(try await request.perform(on: VisionFixture.scene).map(\.confidence) == Array(confidences.prefix(2)))
  }

  @Test func givenThresholdsApplyToTheModel() async throws {
    let plain = try await VisionFixture.container("detector.mlmodel")
    let strict = try CoreMLModelContainer(
      model: plain.model,
      featureProvider: DictionaryFeatureProvider(dictionary: ["confidenceThreshold": FeatureValue(double: 0.55)]))
    let found = try await CoreMLRequest(model: strict).perform(on: VisionFixture.scene)
    let all = try await CoreMLRequest(model: plain).perform(on: VisionFixture.scene)
    #expect(found.count < all.count)
    #expect(found.allSatisfy { $0.confidence > 0.55 })
  }
}
