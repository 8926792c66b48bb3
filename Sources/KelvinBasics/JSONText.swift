package import FoundationEssentials

/// The one way Kelvin writes JSON: keys sorted, so that equal values give equal bytes, and readable.
package enum JSONText {
  /// What becomes of infinities and of what is no number, for which JSON has no word.
  package enum Unspeakable: Sendable {
    /// The document is not written.
    case refused
    /// `"inf"`, `"-inf"` and `"nan"`.
    case text
  }

  /// - Throws: `EncodingError.invalidValue`, with its place, for a number that is refused.
  package static func encode(_ value: some Encodable, unspeakable: Unspeakable = .refused) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    if unspeakable == .text {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    }
    return try encoder.encode(value)
  }
}

extension Double {
  /// Itself, or nil where JSON cannot say it.
  package var finite: Double? { isFinite ? self : nil }
}
