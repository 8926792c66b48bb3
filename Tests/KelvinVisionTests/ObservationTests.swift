import FoundationEssentials
import KelvinImages
import KelvinVision
import TestSupport
import Testing

/// Observations of one image, by both kinds of handler.
@Suite struct ObservationTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"
  private static let nine = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png")

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

  @Test func blockingHandlerGivesTheSameResults() async throws {
    let scene = URL(filePath: "\(VisionFixture.folder)/scene.png")
    var request = CoreMLRequest(model: try await VisionFixture.container("detector.mlmodel"))
    request.cropAndScaleAction = .scaleToFill
    let expected = try await request.perform(on: scene).of(RecognizedObjectObservation.self)
    let blocking = { () throws(VisionError) in try ImageRequestHandler(scene).perform(request) }
    #expect(try blocking().of(RecognizedObjectObservation.self) == expected && !expected.isEmpty)
  }
}
