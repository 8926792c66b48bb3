package import KelvinGraph

/// A protocol buffer message inside a file: bounds-checked, read field by field, never copied.
///
/// Reference: protobuf.dev, "Encoding". The group wire types, which the schemas here do not use, are refused.
package struct WireMessage: Sendable {
  package let bytes: Bytes
  package let file: String
  private let depth: Int
  /// The names in the file.
  let names: NameRegister

  /// The greatest nesting depth of messages.
  package static let depthLimit = 100
  /// The greatest number of elements of a list in a message.
  package static let countLimit = 1 << 20
  /// The greatest number of operations of a graph.
  package static let operationLimit = 1 << 17
  /// The greatest number of inputs and outputs of an operation, a function or a model.
  package static let operandLimit = 1 << 12
  /// The greatest number of bytes of a name.
  package static let nameLimit = 1 << 11

  /// Creates the outermost message of a file.
  package init(_ bytes: Bytes, file: String) {
    self.init(bytes, file: file, depth: 0, NameRegister())
  }

  private init(_ bytes: Bytes, file: String, depth: Int, _ names: NameRegister) {
    self.names = names
    self.bytes = bytes
    self.file = file
    self.depth = depth
  }

  /// The message's position in the file.
  package var offset: Int { bytes.offset }

  package func fields() -> WireReader { WireReader(self) }

  package func nested(_ bytes: Bytes) throws(FormatError) -> WireMessage {
    guard depth < Self.depthLimit else {
      throw FormatError(
        .malformed, file: file, offset: bytes.offset, "messages are nested more than \(Self.depthLimit) deep")
    }
    return WireMessage(bytes, file: file, depth: depth + 1, names)
  }

  /// Returns the last occurrence of a length-delimited field.
  package func message(_ number: Int) throws(FormatError) -> WireMessage? {
    var result: WireMessage?
    try each(number) { (field) throws(FormatError) in result = try field.message() }
    return result
  }

  /// Reads the occurrences of a field.
  package func each(_ number: Int, _ body: (WireField) throws(FormatError) -> Void) throws(FormatError) {
    var reader = fields()
    while let field = try reader.next() {
      if field.number == number { try body(field) }
    }
  }
}

/// Iterates over the fields of a message.
package struct WireReader {
  private let message: WireMessage
  private var position = 0

  package init(_ message: WireMessage) { self.message = message }

  /// Returns the next field, or nil at the end of the message.
  package mutating func next() throws(FormatError) -> WireField? {
    guard position < message.bytes.count else { return nil }
    let start = position
    let key = try varint()
    let number = key >> 3
    guard (1...536_870_911).contains(number) else {
      throw malformed("field number \(number) is not between 1 and 2^29 - 1", at: start)
    }
    let value: WireField.Value
    switch key & 7 {
    case 0: value = .varint(try varint())
    case 1: value = .fixed64(try fixed(8))
    case 2:
      let length = try varint()
      guard length <= UInt64(message.bytes.count - position),
        let bytes = message.bytes.slice(offset: position, count: Int(length))
      else {
        throw malformed(
          "field \(number) has \(length) bytes, \(message.bytes.count - position) are left in its message", at: start)
      }
      position += Int(length)
      value = .bytes(bytes)
    case 5: value = .fixed32(UInt32(truncatingIfNeeded: try fixed(4)))
    default: throw malformed("field \(number) has wire type \(key & 7), expected 0, 1, 2 or 5", at: start)
    }
    return WireField(number: Int(number), value: value, offset: message.offset + start, message: message)
  }

  /// Returns the next varint of the bytes as a packed list, or nil at the end.
  mutating func nextPacked() throws(FormatError) -> UInt64? {
    position < message.bytes.count ? try varint() : nil
  }

  private mutating func varint() throws(FormatError) -> UInt64 {
    let start = position
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < message.bytes.count {
      let byte = (message.bytes.baseAddress + position).load(as: UInt8.self)
      position += 1
      if shift == 63, byte > 1 { throw malformed("a number does not fit 64 bits", at: start) }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
      if shift > 63 { throw malformed("a number does not fit 64 bits", at: start) }
    }
    throw malformed("the message ends inside a number", at: start)
  }

  private mutating func fixed(_ count: Int) throws(FormatError) -> UInt64 {
    guard message.bytes.count - position >= count else {
      throw malformed("the message ends inside a \(8 * count)-bit number", at: position)
    }
    var value: UInt64 = 0
    for index in 0..<count {
      let byte = (message.bytes.baseAddress + position + index).load(as: UInt8.self)
      value |= UInt64(byte) << UInt64(8 * index)
    }
    position += count
    return value
  }

  private func malformed(_ reason: String, at position: Int) -> FormatError {
    FormatError(
      .malformed, file: message.file, offset: message.offset + position, reason,
      remedy: "the file is damaged, cut short or not of this format")
  }
}
