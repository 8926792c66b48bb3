package import FoundationEssentials

/// The one way Kelvin reads and writes JSON. Written are keys sorted, so that equal values give equal bytes, and readable.
/// What `printable` would not show as it is stands as `\u` escapes, which mean the same to whoever reads the document.
package enum JSONText {
  /// How a document is laid out.
  package enum Layout: Sendable {
    /// Indented, a line for each value.
    case readable
    /// On one line.
    case line
  }

  /// What becomes of infinities and of what is no number, for which JSON has no word.
  package enum NonFiniteEncoding: Sendable {
    /// The document is not written.
    case refused
    /// `"inf"`, `"-inf"` and `"nan"`.
    case text
    /// `null`: a document with such a number is written all the same.
    case null
  }

  /// - Throws: `DecodingError` for what is no JSON or not of that type, and what the type throws.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from document: Data, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    // Foundation's reader looks past the end, and stops the program, where a document ends in the bracket that is one too
    // many for it (513). Zeros are halves of UTF-16, which it reads as well.
    guard let last = document.last(where: { $0 != 0 }), !"[{".utf8.contains(last) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "the document ends before what it begins"))
    }
    return try decoder.decode(type, from: document)
  }

  /// - Throws: `EncodingError.invalidValue`, with its place, for a number that is refused.
  package static func encode(
    _ value: some Encodable, unspeakable: NonFiniteEncoding = .refused, layout: Layout = .readable
  ) throws -> Data {
    escapingHidden(try encoded(value, unspeakable, layout))
  }

  private static func encoded(_ value: some Encodable, _ unspeakable: NonFiniteEncoding, _ layout: Layout) throws -> Data {
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

  /// A text as a JSON string, quotes included.
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

  /// The document with what must not be shown as it is escaped. Outside of texts, which escape all below U+0020
  /// themselves, JSON has no such characters but its own line feeds.
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

  /// Stands for what becomes `null`: a text that no model, device or person is called by.
  private static let stand = "\u{E000}no number\u{E001}"
}

extension Double {
  /// Itself, or nil where JSON cannot say it.
  package var finite: Double? { isFinite ? self : nil }
}
