import KelvinGraph
import KelvinImport

/// Writes a protocol buffer message, field by field.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func integer(_ number: Int, _ value: Int) {
    varint(UInt64(number) << 3)
    varint(UInt64(bitPattern: Int64(value)))
  }

  mutating func bytes(_ number: Int, _ value: some Collection<UInt8>) {
    varint(UInt64(number) << 3 | 2)
    varint(UInt64(value.count))
    bytes += value
  }

  mutating func text(_ number: Int, _ value: String) { bytes(number, value.utf8) }

  mutating func message(_ number: Int, _ build: (inout WireWriter) throws -> Void) rethrows {
    var inner = WireWriter()
    try build(&inner)
    bytes(number, inner.bytes)
  }

  /// Writes an entry of a map with string keys.
  mutating func entry(_ number: Int, _ key: String, _ value: (inout WireWriter) throws -> Void) rethrows {
    try message(number) { entry in
      entry.text(1, key)
      try entry.message(2, value)
    }
  }

  /// Copies a field of another message.
  mutating func copy(_ field: WireField) {
    switch field.value {
    case .varint(let value):
      varint(UInt64(field.number) << 3)
      varint(value)
    case .fixed64(let value):
      varint(UInt64(field.number) << 3 | 1)
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    case .bytes(let value): value.withUnsafeBytes { bytes(field.number, $0) }
    case .fixed32(let value):
      varint(UInt64(field.number) << 3 | 5)
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
