extension AttributeValue: CustomStringConvertible {
  /// The value as a dump shows it; `TextScanner.attributeValue` reads it back.
  ///
  /// Float32 numbers have a point or an exponent, float64 numbers end in `f64`, and both are as short as they can be
  /// and still exact.
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
