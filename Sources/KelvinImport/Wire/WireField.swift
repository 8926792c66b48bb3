package import KelvinGraph

/// One field of a message, with the conversions that the schemas need.
package struct WireField {
  package enum Value {
    case varint(UInt64)
    case fixed32(UInt32)
    case fixed64(UInt64)
    case bytes(Bytes)
  }

  package let number: Int
  package let value: Value
  /// The field's position in the file.
  package let offset: Int
  fileprivate let owner: WireMessage

  package init(number: Int, value: Value, offset: Int, message: WireMessage) {
    self.number = number
    self.value = value
    self.offset = offset
    owner = message
  }

  /// Returns an integer, enumeration or size, in two's complement.
  package func integer() throws(FormatError) -> Int {
    guard case .varint(let bits) = value else { throw mismatch("an integer") }
    return Int(truncatingIfNeeded: bits)
  }

  package func bool() throws(FormatError) -> Bool { try integer() != 0 }

  package func float() throws(FormatError) -> Float {
    guard case .fixed32(let bits) = value else { throw mismatch("a float") }
    return Float(bitPattern: bits)
  }

  package func double() throws(FormatError) -> Double {
    guard case .fixed64(let bits) = value else { throw mismatch("a double") }
    return Double(bitPattern: bits)
  }

  package func bytes() throws(FormatError) -> Bytes {
    guard case .bytes(let bytes) = value else { throw mismatch("bytes") }
    return bytes
  }

  package func message() throws(FormatError) -> WireMessage { try owner.nested(bytes()) }

  /// Returns a string; bytes that are not valid UTF-8 are replaced by U+FFFD.
  package func string() throws(FormatError) -> String {
    try bytes().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the name of an operation, value, feature or dimension. Graphs derive other names from names, so their
  /// length is limited. Two names are equal only if their bytes are equal in the file.
  package func name() throws(FormatError) -> String {
    let name = try string()
    guard name.utf8.count <= WireMessage.nameLimit else {
      throw FormatError(
        .malformed, file: owner.file, offset: offset,
        "a name has \(name.utf8.count) bytes, expected at most \(WireMessage.nameLimit)")
    }
    return owner.names.name(name)
  }

  /// Appends one element of a repeated integer field, or all of a packed one.
  package func append(to list: inout [Int], limit: Int = WireMessage.countLimit) throws(FormatError) {
    if case .bytes(let bytes) = value {
      var reader = WireReader(try owner.nested(bytes))
      while let bits = try reader.nextPacked() {
        try check(list.count, limit)
        list.append(Int(truncatingIfNeeded: bits))
      }
    } else {
      try check(list.count, limit)
      list.append(try integer())
    }
  }

  /// Appends one element of a repeated float field, or all of a packed one.
  package func append(to list: inout [Float], limit: Int = WireMessage.countLimit) throws(FormatError) {
    guard case .bytes(let bytes) = value else {
      try check(list.count, limit)
      return list.append(try float())
    }
    try append(bytes, to: &list, limit, bitsAs: UInt32.self) { Float(bitPattern: $0) }
  }

  /// Appends one element of a repeated double field, or all of a packed one.
  package func append(to list: inout [Double], limit: Int = WireMessage.countLimit) throws(FormatError) {
    guard case .bytes(let bytes) = value else {
      try check(list.count, limit)
      return list.append(try double())
    }
    try append(bytes, to: &list, limit, bitsAs: UInt64.self) { Double(bitPattern: $0) }
  }

  /// Appends the name of one of an operation's inputs or outputs.
  package func appendName(to list: inout [String]) throws(FormatError) {
    try check(list.count, WireMessage.operandLimit)
    list.append(try name())
  }

  /// Appends the field's string to a repeated string field.
  package func append(to list: inout [String], limit: Int = WireMessage.countLimit) throws(FormatError) {
    try check(list.count, limit)
    list.append(try string())
  }

  /// Appends a message to a repeated message field.
  package func append(to list: inout [WireMessage]) throws(FormatError) {
    try check(list.count, WireMessage.countLimit)
    list.append(try message())
  }

  package func check(_ count: Int, _ limit: Int = WireMessage.countLimit) throws(FormatError) {
    guard count < limit else {
      throw FormatError(.malformed, file: owner.file, offset: offset, "a list has more than \(limit) elements")
    }
  }

  private func append<Element, Bits: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: Bytes, to list: inout [Element], _ limit: Int, bitsAs: Bits.Type, _ convert: (Bits) -> Element
  ) throws(FormatError) {
    let size = MemoryLayout<Bits>.size
    guard bytes.count % size == 0 else {
      throw FormatError(
        .malformed, file: owner.file, offset: offset, "a packed list of \(size)-byte numbers has \(bytes.count) bytes")
    }
    let count = bytes.count / size
    guard count <= limit - list.count else {
      throw FormatError(.malformed, file: owner.file, offset: offset, "a list has more than \(limit) elements")
    }
    bytes.withUnsafeBytes { raw in
      for index in 0..<count {
        list.append(convert(Bits(littleEndian: raw.loadUnaligned(fromByteOffset: index * size, as: Bits.self))))
      }
    }
  }

  private func mismatch(_ expected: String) -> FormatError {
    let found =
      switch value {
      case .varint: "an integer"
      case .fixed32: "32 bits"
      case .fixed64: "64 bits"
      case .bytes: "bytes"
      }
    return FormatError(
      .malformed, file: owner.file, offset: offset, "field \(number): expected \(expected), found \(found)",
      remedy: "the file is damaged or not of this format")
  }
}
