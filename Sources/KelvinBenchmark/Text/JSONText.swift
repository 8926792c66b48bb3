import FoundationEssentials

/// The one way this module writes JSON: keys sorted, readable, numbers that JSON has no word for left as `null`.
enum JSONText {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}

extension Double {
  /// Itself, or nil where JSON cannot say it.
  var finite: Double? { isFinite ? self : nil }
}
