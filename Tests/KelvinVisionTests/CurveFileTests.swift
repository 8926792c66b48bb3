import FoundationEssentials
import Kelvin
import KelvinCollections
import KelvinVision
import TestSupport
import Testing

/// Curves that are not in the model.
@Suite struct CurveFileTests {
  private let folder = TemporaryFolder()
  private static let document = """
    {"format": "kelvin-curves", "version": 1, "classes": {
      "nine": {"precision": [[0.2, 0.5], [0.6, 0.9], [0.9999999, 1.0]], "recall": [[0.2, 0.95], [0.6, 0.8], [0.9999999, 0.1]]},
      "four": {"precision": [[0.0, 0.3]], "recall": [[0.0, 1.0]]}}}
    """

  private func model() async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let path = folder.copy("\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx", as: "Digits.onnx")
    return try await Model.load(contentsOf: URL(filePath: path), configuration: configuration)
  }

  private let image = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png")

  @Test func curveFileBesideTheModelIsRead() async throws {
    let plain = try ClassificationRequest(model: try await model())
    #expect(!plain.hasPrecisionRecallCurves)
    #expect(try await plain.perform(on: image).allSatisfy { !$0.hasPrecisionRecallCurve })

    folder.write(Self.document, "Digits.onnx.curves.json")
    let request = try ClassificationRequest(model: try await model())
    let seen = try await request.perform(on: image)
    #expect(seen.filter(\.hasPrecisionRecallCurve).map(\.identifier).sorted() == ["four", "nine"])
    let nine = seen[0]
    #expect(nine.identifier == "nine" && (0.6..<0.9999999).contains(nine.confidence))
    #expect(nine.hasMinimumPrecision(0.9, forRecall: 0.8))
    #expect(!nine.hasMinimumPrecision(0.95, forRecall: 0.8))
    #expect(nine.hasMinimumRecall(0.8, forPrecision: 0.9))
    #expect(!nine.hasMinimumRecall(0.1, forPrecision: 1))
    func kept(_ precision: Float?, _ recall: Float?) -> [String] {
      seen.filter(ConfidenceFilter(minimumPrecision: precision, minimumRecall: recall).keeps).map(\.identifier)
    }
    #expect(kept(0.9, nil) == ["nine"])
    #expect(kept(1, nil) == [])
    #expect(kept(nil, 0.8) == ["nine", "four"])
    #expect(kept(0.9, 0.8) == ["nine"])
  }

  @Test func invalidCurveFilesAreRefused() throws {
    for (text, reason) in [
      ("{", "kelvin-curves"), ("{\"format\": \"other\", \"version\": 1, \"classes\": {}}", "'other'"),
      ("{\"format\": \"kelvin-curves\", \"version\": 9, \"classes\": {}}", "9"),
      (Self.document.replacing("0.95", with: "95"), "class 'nine'"),
      (Self.document.replacing("[0.0, 1.0]", with: "[0.0]"), "class 'four'"),
    ] {
      let path = folder.write(text, "c.json")
      let error = #expect(throws: VisionError.self) { try PrecisionRecallCurves(contentsOf: URL(filePath: path)) }
      #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
    #expect(throws: VisionError.self) { try PrecisionRecallCurves(contentsOf: URL(filePath: "/nonexistent")) }
  }

  @Test func indexUsesTheCurves() async throws {
    folder.write(Self.document, "Digits.onnx.curves.json")
    for name in ["9_0125.png", "0_0030.png"] {
      folder.write(TemporaryFolder.read("\(SharedFiles.projectRoot)/Examples/Digits/images/\(name)"), "p/\(name)")
    }
    let index = PhotoIndex(folder: URL(filePath: "\(folder.path)/p"))
    try await index.update(with: PhotoModel(model: try await model()))
    var query = PhotoQuery("nine OR zero OR four")
    query.filter.minimumPrecision = 0.9
    // Zero has no curve, so that nothing is known of its precision.
    #expect(try index.search(query).matches.map(\.path) == ["9_0125.png"])
    query.filter.minimumPrecision = 1
    #expect(try index.search(query).matches.isEmpty)
  }
}
