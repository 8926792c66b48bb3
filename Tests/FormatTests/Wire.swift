/// Writes protocol buffer messages, well formed or not.
struct Wire {
  private(set) var bytes: [UInt8] = []

  static func message(_ build: (inout Wire) -> Void) -> [UInt8] {
    var wire = Wire()
    build(&wire)
    return wire.bytes
  }

  static func varint(_ value: UInt64) -> [UInt8] {
    var (bytes, rest): ([UInt8], UInt64) = ([], value)
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  mutating func integer(_ field: Int, _ value: Int) {
    bytes += Self.varint(UInt64(field) << 3) + Self.varint(UInt64(bitPattern: Int64(value)))
  }

  mutating func float(_ field: Int, _ value: Float) {
    bytes += Self.varint(UInt64(field) << 3 | 5)
    withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 }
  }

  mutating func bytes(_ field: Int, _ value: [UInt8]) {
    bytes += Self.varint(UInt64(field) << 3 | 2) + Self.varint(UInt64(value.count)) + value
  }

  mutating func text(_ field: Int, _ value: String) { bytes(field, Array(value.utf8)) }

  mutating func message(_ field: Int, _ build: (inout Wire) -> Void) { bytes(field, Self.message(build)) }

  mutating func packed(_ field: Int, _ values: [Int]) {
    bytes(field, values.flatMap { Self.varint(UInt64(bitPattern: Int64($0))) })
  }

  mutating func append(_ other: [UInt8]) { bytes += other }
}

func littleEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
func littleEndian(_ values: [Float]) -> [UInt8] { values.flatMap { littleEndian($0.bitPattern) } }
