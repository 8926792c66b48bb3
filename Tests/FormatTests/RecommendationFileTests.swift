import KelvinCoreML
import KelvinGraph
import KelvinImport
import TestSupport
import Testing

/// Probit regressors and recommenders with impossible numbers: a second message of the model's type replaces the
/// first.
@Suite struct RecommendationFileTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Recommendation"
  private static let (probit, items) = (304, 501)

  private func refusal(_ name: String, _ type: Int, _ contents: (inout Wire) -> Void) -> FormatError? {
    let bytes =
      TemporaryFolder.read("\(Self.folder)/\(name).mlmodel") + Wire.message { $0.message(type, contents) }
    do throws(FormatError) {
      _ = try readCoreML(Bytes(bytes), path: "\(name).mlmodel", folder: Self.folder, files: [])
      return nil
    } catch { return error }
  }

  private static func bias(_ model: inout Wire, precision: Double) {
    model.message(2) { $0.append(Wire.varint(2 << 3 | 1) + littleEndian(precision.bitPattern)) }
  }

  @Test func invalidProbitRegressorsAreRefused() {
    #expect(refusal("probit", Self.probit) { _ in }?.description.contains("no bias") == true)
    for precision in [0, -1, Double.nan] {
      let error = refusal("probit", Self.probit) {
        Self.bias(&$0, precision: precision)
        $0.text(10, "event")
      }
      #expect(error?.description.contains("expected a number above 0") == true, "\(error as Any)")
    }
    let stranger = refusal("probit", Self.probit) {
      Self.bias(&$0, precision: 1)
      $0.text(10, "nothing")
    }
    #expect(stranger?.description.contains("'nothing'") == true, "\(stranger as Any)")
    let drawn = refusal("probit", Self.probit) {
      Self.bias(&$0, precision: 1)
      $0.text(10, "event")
      $0.text(23, "click")
    }
    #expect(drawn?.code == .unsupported && drawn?.description.contains("at random") == true, "\(drawn as Any)")
  }

  @Test func invalidRecommendersAreRefused() {
    func named(_ model: inout Wire, item: Int) {
      model.message(1) { $0.integer(1, item) }
      model.message(2) { $0.text(1, "ant") }
      model.text(10, "seen")
      model.text(20, "best")
      model.text(21, "scores")
    }
    #expect(refusal("items", Self.items) { named(&$0, item: 0) } == nil)
    let unnamed = refusal("items", Self.items) { named(&$0, item: 7) }
    #expect(unnamed?.description.contains("names item 7") == true, "\(unnamed as Any)")
    for item in [1 << 40, Int.max, -1] {
      let error = refusal("items", Self.items) { named(&$0, item: item) }
      #expect(error?.description.contains("names item") == true, "\(error as Any)")
    }
    let mute = refusal("items", Self.items) {
      $0.message(2) { $0.text(1, "ant") }
      $0.text(10, "seen")
    }
    #expect(mute?.description.contains("no output") == true, "\(mute as Any)")
  }
}
