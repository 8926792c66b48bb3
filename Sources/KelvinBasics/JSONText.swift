package import FoundationEssentials

/// The one way Kelvin writes JSON: keys sorted, so that equal values give equal bytes, and readable.
package enum JSONText {
  /// What becomes of infinities and of what is no number, for which JSON has no word.
  package enum Unspeakable: Sendable {
    /// The document is not written.
    case refused
    /// `"inf"`, `"-inf"` and `"nan"`.
    case text
    /// `null`: a document with such a number is written all the same.
    case null
  }

  /// - Throws: `EncodingError.invalidValue`, with its place, for a number that is refused.
  package static func encode(_ value: some Encodable, unspeakable: Unspeakable = .refused) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    switch unspeakable {
    case .refused: return try encoder.encode(value)
    case .text:
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      return try encoder.encode(value)
    case .null:
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: stand, negativeInfinity: stand, nan: stand)
      let text = String(decoding: try encoder.encode(value), as: UTF8.self)
      return Data(text.replacing("\"\(stand)\"", with: "null").utf8)
    }
  }

  /// Stands for what becomes `null`: a text that no model, device or person is called by.
  private static let stand = "\u{E000}no number\u{E001}"
}

extension Double {
  /// Itself, or nil where JSON cannot say it.
  package var finite: Double? { isFinite ? self : nil }
}
