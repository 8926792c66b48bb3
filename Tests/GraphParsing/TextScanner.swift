import KelvinGraph

/// A scanner of one line of a dump, from left to right.
struct TextScanner {
  private let bytes: [UInt8]
  private var position = 0
  private let line: Int

  init(_ text: Substring, line: Int) {
    bytes = Array(text.utf8)
    self.line = line
  }

  var isAtEnd: Bool { position == bytes.count }

  /// Returns an error about the text at the position.
  ///
  /// - Parameter expected: The expected text.
  func error(_ expected: String) -> GraphError {
    let rest = String(decoding: bytes[position...].prefix(24), as: UTF8.self)
    return GraphError(
      "line \(line), column \(position + 1)",
      "expected \(expected), got \(rest.isEmpty ? "the line's end" : "'\(rest)'")")
  }

  /// Returns an error about an element that is well formed but invalid.
  func error(saying reason: String) -> GraphError { GraphError("line \(line)", reason) }

  /// Skips spaces and returns their number.
  mutating func takeSpaces() -> Int {
    let start = position
    while peek() == 0x20 { position += 1 }
    return position - start
  }

  private func peek(_ ahead: Int = 0) -> UInt8? {
    position + ahead < bytes.count ? bytes[position + ahead] : nil
  }

  /// Skips the given text if it comes next, and returns whether it did.
  mutating func take(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  mutating func expect(_ text: StaticString) throws(GraphError) {
    guard take(text) else { throw error("'\(text)'") }
  }

  mutating func expectEnd() throws(GraphError) {
    guard isAtEnd else { throw error("the line's end") }
  }

  private mutating func run(where isPart: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = peek(), isPart(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Reads a letter or underscore, followed by letters, underscores or digits.
  mutating func name() throws(GraphError) -> String {
    guard let first = peek(), first.isNameStart else { throw error("a name") }
    return run(where: \.isNamePart)
  }

  /// Reads a string as `String.reference` writes it.
  mutating func text() throws(GraphError) -> String {
    if peek() == 0x22 { return try quoted() }
    let text = run(where: \.isReferencePart)
    guard !text.isEmpty else {
      throw error("a name, in quotes if it has other characters than letters, digits and _./~-$")
    }
    return text
  }

  mutating func quoted() throws(GraphError) -> String {
    try expect("\"")
    var result: [UInt8] = []
    while let byte = peek() {
      position += 1
      switch byte {
      case 0x22: return String(decoding: result, as: UTF8.self)
      case 0x5c:
        if take("u{") {
          let digits = run(where: { $0 != 0x7d })
          guard take("}"), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
            throw error("a character's number in hexadecimal and '}'")
          }
          result += Array(String(scalar).utf8)
        } else if let escaped = peek(), escaped == 0x22 || escaped == 0x5c {
          position += 1
          result.append(escaped)
        } else {
          throw error("'\"', '\\' or 'u{'")
        }
      default: result.append(byte)
      }
    }
    throw error("'\"'")
  }

  mutating func integer() throws(GraphError) -> Int {
    let start = position
    _ = take("-")
    _ = run(where: \.isDigit)
    guard let value = Int(String(decoding: bytes[start..<position], as: UTF8.self)) else {
      position = start
      throw error("an integer")
    }
    return value
  }

  mutating func double() throws(GraphError) -> Double {
    let start = position
    guard let value = Double(run(where: \.isNumberPart)) else {
      position = start
      throw error("a number")
    }
    return value
  }

  /// Reads `float32[2x3]`, or `float32` for a scalar.
  mutating func type() throws(GraphError) -> TensorType {
    let start = position
    guard let scalar = ScalarType(rawValue: try name()) else {
      position = start
      throw error("an element type")
    }
    var shape: Shape = []
    if take("[") {
      repeat { shape.dimensions.append(try integer()) } while take("x")
      try expect("]")
    }
    return TensorType(scalar, shape)
  }

  /// Reads comma-separated items up to a closing character.
  mutating func list<Item>(
    until end: StaticString, _ item: (inout TextScanner) throws(GraphError) -> Item
  ) throws(GraphError) -> [Item] {
    var items: [Item] = []
    while !take(end) {
      if !items.isEmpty { try expect(", ") }
      items.append(try item(&self))
    }
    return items
  }

  /// Reads a value as `AttributeValue.description` writes it.
  ///
  /// - Parameter depth: The number of lists and parameters around it. At depth 0, a parenthesis before operands is not
  ///   part of the value.
  mutating func attributeValue(depth: Int = 0) throws(GraphError) -> AttributeValue {
    guard depth < 32 else { throw error("values nested less deeply") }
    if take("[") {
      return .list(try list(until: "]") { scanner throws(GraphError) in try scanner.attributeValue(depth: depth + 1) })
    }
    let isQuoted = peek() == 0x22
    guard isQuoted || peek()?.isNameStart == true else { return try number() }
    let text = isQuoted ? try quoted() : try name()
    if !isQuoted {
      switch text {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case "inf": return .float(.infinity)
      case "inff64": return .double(.infinity)
      case "nan": return try notANumber()
      default: break
      }
    }
    guard peek() == 0x28, depth > 0 || (peek(1) != 0x25 && peek(1) != 0x29) else { return .text(text) }
    try expect("(")
    return .call(
      text, try list(until: ")") { scanner throws(GraphError) in try scanner.attributeValue(depth: depth + 1) })
  }

  private mutating func notANumber() throws(GraphError) -> AttributeValue {
    try expect("(")
    let digits = run(where: { $0 != 0x29 })
    guard let bits = UInt64(digits, radix: 16), take(")") else { throw error("the bits in hexadecimal and ')'") }
    if take("f64") { return .double(Double(bitPattern: bits)) }
    return .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }

  private mutating func number() throws(GraphError) -> AttributeValue {
    let start = position
    if take("-inff64") { return .double(-.infinity) }
    if take("-inf") { return .float(-.infinity) }
    let text = run(where: \.isNumberPart)
    if take("f64") {
      if let value = Double(text) { return .double(value) }
    } else if let value = Int(text) {
      return .integer(value)
    } else if let value = Float(text) {
      return .float(value)
    }
    position = start
    throw error("a value")
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isNameStart: Bool { (0x61...0x7a).contains(self) || (0x41...0x5a).contains(self) || self == 0x5f }
  fileprivate var isNamePart: Bool { isNameStart || isDigit }
  /// Whether the byte is a letter, a digit or one of `_ . / ~ - $`.
  fileprivate var isReferencePart: Bool { isNamePart || [0x2e, 0x2f, 0x7e, 0x2d, 0x24].contains(self) }
  /// Whether the byte is a digit or one of `+ - . e`.
  fileprivate var isNumberPart: Bool { isDigit || [0x2b, 0x2d, 0x2e, 0x65].contains(self) }
}
