package import FoundationEssentials

/// Reading and writing of JSON. Written keys are sorted, so that equal values give equal bytes. Characters that
/// `printable` would escape are written as `\u` escapes, which are equivalent for any reader.
package enum JSONText {
  /// The layout of a document.
  package enum Layout: Sendable {
    /// Indented, one line for each value.
    case readable
    /// On a single line.
    case line
  }

  /// The encoding of infinities and NaN, which JSON cannot represent.
  package enum NonFiniteEncoding: Sendable {
    /// Encoding fails.
    case refused
    /// The strings `"inf"`, `"-inf"` and `"nan"`.
    case text
    /// `null`.
    case null
  }

  /// Decodes a document.
  ///
  /// - Throws: `DecodingError` for invalid JSON or another type, or the errors of the type.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from document: Data, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    // Foundation's reader reads past the end and crashes if a document ends in the bracket that exceeds its nesting
    // limit (513). Zero bytes are halves of UTF-16 units, which it also accepts.
    guard let last = document.last(where: { $0 != 0 }), !"[{".utf8.contains(last) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "the document ends inside a value"))
    }
    return try decoder.decode(type, from: document)
  }

  /// Encodes a value.
  ///
  /// - Throws: `EncodingError.invalidValue`, with its path, for a number that is refused.
  package static func encode(
    _ value: some Encodable, unspeakable: NonFiniteEncoding = .refused, layout: Layout = .readable
  ) throws -> Data {
    escapingHidden(try encoded(value, unspeakable, layout))
  }

  private static func encoded(_ value: some Encodable, _ unspeakable: NonFiniteEncoding, _ layout: Layout) throws
    -> Data
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if layout == .readable { encoder.outputFormatting.insert(.prettyPrinted) }
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

  /// Returns a string as a JSON string, including quotes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    text.forEachScalar { scalar, isHidden in
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where isHidden: result += escape(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns the document with all hidden characters escaped. The encoder itself escapes those below U+0020 in
  /// strings; outside of strings, JSON has only line feeds.
  private static func escapingHidden(_ document: Data) -> Data {
    guard document.contains(where: { $0 >= 0x7F }) else { return document }
    var result = ""
    result.reserveCapacity(document.count + 64)
    String(decoding: document, as: UTF8.self).forEachScalar { scalar, isHidden in
      if isHidden, scalar.value >= 0x7F {
        result += escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return Data(result.utf8)
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar).map { units in
      units.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      }.joined()
    } ?? ""
  }

  /// A placeholder for `null`, which does not occur as a name.
  private static let stand = "\u{E000}no number\u{E001}"
}

extension Double {
  /// The number itself, or nil if JSON cannot represent it.
  package var finite: Double? { isFinite ? self : nil }
}
