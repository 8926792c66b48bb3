extension AttributeValue: CustomStringConvertible {
  /// The value in the notation of dumps; `TextScanner.attributeValue` reads it back.
  ///
  /// Float32 numbers have a point or an exponent, and float64 numbers end in `f64`. Both have the fewest digits that
  /// are exact.
  package var description: String {
    switch self {
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .float(let value):
      value.isNaN ? "nan(\(Self.hex(UInt64(value.bitPattern), digits: 8)))" : "\(value)"
    case .double(let value):
      (value.isNaN ? "nan(\(Self.hex(value.bitPattern, digits: 16)))" : "\(value)") + "f64"
    case .text(let value): Self.text(value)
    case .list(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .call(let name, let values): "\(Self.text(name))(\(values.map(\.description).joined(separator: ", ")))"
    }
  }

  private static let words: Set<String> = ["true", "false", "nan", "inf", "inff64"]

  private static func text(_ text: String) -> String {
    text.isPlainName && !words.contains(text) ? text : text.quoted
  }
}
