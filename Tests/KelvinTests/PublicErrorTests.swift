import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision
import Testing

/// Errors of the library hold names from outside, and are printed by whoever gets them.
@Suite struct PublicErrorTests {
  private static let evil = "a\u{1B}[31mred\u{202E}gnp\u{9B}2J\u{2028}\u{200B}\nkelvin: error: fake\r\u{7}\u{7F}z"

  @Test func errorsAreOneEscapedLine() {
    let (image, model) = (
      ImageError(.corrupt, Self.evil, Self.evil, remedy: Self.evil), ModelError(.io, "no input '\(Self.evil)'")
    )
    let errors: [any Error] = [
      image, model, VisionError.invalidModel(Self.evil), VisionError.missingNormalization(Self.evil),
      VisionError.invalidRequest(Self.evil), VisionError.image(image), VisionError.prediction(model),
      FileError(path: Self.evil, action: "open", code: 2), FileError(path: "p", action: "read", reason: Self.evil),
    ]
    for error in errors {
      let text = "\(error)"
      #expect(text.contains("a\\u{1B}[31mred\\u{202E}gnp\\u{9B}2J\\u{2028}\\u{200B}\\nkelvin"), "\(text)")
      #expect(text.unicodeScalars.allSatisfy { 0x20...0x7E ~= $0.value }, "\(text)")
    }
  }

  @Test func errorsDescribeThemselvesToProgramsOfFoundation() {
    let image = ImageError(.corrupt, "a.png", "the header ends early", remedy: "save it again")
    let model = ModelError(.featureType, "input 'x' is 1x3, the model takes 1x4; see 'kelvin inspect'")
    let cases: [(error: any LocalizedError, description: String, reason: String, remedy: String?)] = [
      (image, "image 'a.png': the header ends early; save it again", "the header ends early", "save it again"),
      (
        model, "input 'x' is 1x3, the model takes 1x4; see 'kelvin inspect'",
        "A feature is missing, unknown, or of the wrong type, shape or size.", "see 'kelvin inspect'"
      ),
      (VisionError.prediction(model), model.description, model.failureReason ?? "", "see 'kelvin inspect'"),
      (VisionError.image(image), image.description, "the header ends early", "save it again"),
      (VisionError.invalidModel("no labels"), "no labels", "The model is not suitable for the request.", nil),
      (
        PhotoIndexError(.absent, "the index does not exist; run 'kelvin index'"),
        "the index does not exist; run 'kelvin index'",
        "The index does not exist yet.", "run 'kelvin index'"
      ),
    ]
    for (error, description, reason, remedy) in cases {
      #expect(error.errorDescription == description)
      #expect(error.failureReason == reason)
      #expect(error.recoverySuggestion == remedy)
    }
  }
}
