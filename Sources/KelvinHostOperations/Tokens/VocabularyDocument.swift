package import KelvinBasics

/// A JSON object of token numbers, whose keys are compared by their bytes.
///
/// Reference: RFC 8259.
package struct VocabularyDocument {
  package let numbers: [ExactString: Int]

  /// Reads a document such as `{"the": 0, "\u0120of": 1}`; a repeated key has its last number.
  ///
  /// - Returns: nil for anything else.
  package init?(_ text: String) {
    var reader = VocabularyReader(rest: Array(text.utf8)[...])
    guard let numbers = reader.object() else { return nil }
    self.numbers = numbers
  }
}

private struct VocabularyReader {
  var rest: ArraySlice<UInt8>

  mutating func object() -> [ExactString: Int]? {
    var numbers: [ExactString: Int] = [:]
    guard take("{") else { return nil }
    if take("}") { return isAtEnd ? numbers : nil }
    repeat {
      guard let key = string(), take(":"), let number = integer() else { return nil }
      numbers[ExactString(key)] = number
    } while take(",")
    return take("}") && isAtEnd ? numbers : nil
  }

  private mutating func skipSpaces() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

  private var isAtEnd: Bool { rest.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpaces()
    guard let byte = rest.first, UInt32(byte) == mark.value else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func integer() -> Int? {
    skipSpaces()
    let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == 0x2D }
    rest.removeFirst(digits.count)
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case 0x22: return String(validating: bytes, as: UTF8.self)
      case 0x5C:
        guard let scalar = escaped() else { return nil }
        bytes += Array(String(scalar).utf8)
      case 0..<0x20: return nil
      default: bytes.append(byte)
      }
    }
    return nil
  }

  private mutating func escaped() -> Unicode.Scalar? {
    guard let byte = rest.popFirst() else { return nil }
    switch byte {
    case 0x22, 0x5C, 0x2F: return Unicode.Scalar(byte)
    case 0x62: return "\u{8}"
    case 0x66: return "\u{C}"
    case 0x6E: return "\n"
    case 0x72: return "\r"
    case 0x74: return "\t"
    case 0x75:
      guard let unit = hexadecimal() else { return nil }
      guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
      guard rest.popFirst() == 0x5C, rest.popFirst() == 0x75, let trail = hexadecimal(), UTF16.isTrailSurrogate(trail)
      else { return nil }
      return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
    default: return nil
    }
  }

  private mutating func hexadecimal() -> UInt16? {
    let digits = rest.prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }) else { return nil }
    rest.removeFirst(4)
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
