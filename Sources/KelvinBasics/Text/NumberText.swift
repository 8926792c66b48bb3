/// Parsing of numbers in files.
package enum NumberText {
  /// Parses a decimal number (`-1.5e3`) or another form that Swift's `Double` accepts (`inf`, `nan`, `0x1p3`), with
  /// optional spaces around it. Returns the nearest float64.
  package static func double(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    let text = trimmed(bytes)
    return decimal(text) ?? Double(String(decoding: text, as: UTF8.self))
  }

  /// Parses an integer; a fraction of zeros (`3.0`) is accepted.
  package static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    let text = trimmed(bytes)
    if let number = Int64(String(decoding: text, as: UTF8.self)) { return number }
    guard let number = double(bytes), number == number.rounded(), number.magnitude <= 0x1p53 else { return nil }
    return Int64(number)
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
