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
}
