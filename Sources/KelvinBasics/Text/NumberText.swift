/// Parsing of the numbers that people write in tables and options.
///
/// A number is an optional sign, decimal digits with at most one point, and an optional exponent: `12`, `-0.5`, `+.5`,
/// `1e-3`. Everything else is not a number: no hexadecimal digits, words, separators of thousands or further characters.
package enum NumberText {
  /// Parses a number with optional spaces and tabs around it. Returns the nearest float64, an infinite one beyond the
  /// range of float64.
  package static func double(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    let text = trimmed(bytes)
    if let number = decimal(text) { return number }
    return isNumber(text) ? Double(String(decoding: text, as: UTF8.self)) : nil
  }

  /// Parses an integer; a fraction of zeros (`3.0`) is accepted.
  package static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    let text = trimmed(bytes)
    if let number = Int64(String(decoding: text, as: UTF8.self)) { return number }
    guard let number = double(bytes), number == number.rounded(), number.magnitude <= 0x1p53 else { return nil }
    return Int64(number)
  }

  /// Parses a number without spaces around it; nil also beyond the range of float64.
  package static func number(_ text: some StringProtocol) -> Double? {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBufferPointer { bytes in
      isNumber(bytes) ? double(bytes).flatMap { $0.isFinite ? $0 : nil } : nil
    }
  }

  /// Parses the words with which Kelvin writes float64 values that are not finite: `inf`, `-inf`, `nan`, and `NaN`.
  package static func word(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    switch String(decoding: trimmed(bytes), as: UTF8.self) {
    case "inf": .infinity
    case "-inf": -.infinity
    case "nan", "NaN": .nan
    default: nil
    }
  }

  private static func isNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var rest = text[...]
    func skipSign() { if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() } }
    /// Removes the digits at the start, and returns how many.
    func skipDigits() -> Int {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    skipSign()
    var count = skipDigits()
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      count += skipDigits()
    }
    guard count > 0 else { return false }
    guard let mark = rest.first else { return true }
    guard "eE".utf8.contains(mark) else { return false }
    rest = rest.dropFirst()
    skipSign()
    return skipDigits() > 0 && rest.isEmpty
  }

  /// Parses a boolean as people and Python write it.
  package static func boolean(_ text: some StringProtocol) -> Bool? {
    switch text {
    case "true", "True", "TRUE": true
    case "false", "False", "FALSE": false
    default: nil
    }
  }

  /// The powers of ten that float64 represents exactly.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// Parses a plain decimal number whose digits and power of ten are exact in float64, so that a single division
  /// rounds correctly (Clinger, "How to read floating point numbers accurately", 1990). Nil for any other number.
  private static func decimal(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    var place = 0
    let isNegative = text.first == UInt8(ascii: "-")
    if isNegative { place = 1 }
    var (digits, count, power): (UInt64, Int, Int) = (0, 0, 0)
    var isFraction = false
    while place < text.count {
      let byte = text[place]
      let digit = byte &- UInt8(ascii: "0")
      if digit < 10 {
        digits = digits &* 10 &+ UInt64(digit)
        count += 1
        if isFraction { power -= 1 }
      } else if byte == UInt8(ascii: "."), !isFraction {
        isFraction = true
      } else {
        return nil
      }
      place += 1
    }
    guard count > 0, count <= 19, digits < 1 << 53, -power < powers.count else { return nil }
    let value = Double(digits) / powers[-power]
    return isNegative ? -value : value
  }

  private static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var range = bytes.startIndex..<bytes.endIndex
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    while let first = range.first, isSpace(bytes[first]) { range = range.dropFirst() }
    while let last = range.last, isSpace(bytes[last]) { range = range.dropLast() }
    return UnsafeBufferPointer(rebasing: bytes[range])
  }
}
