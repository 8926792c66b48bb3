/// Takes the arguments of a call from the bytes of an input. After the last byte every value is 0.
struct ByteChoices {
  private static let notable: [Int64] = [
    -1, 1 << 15, 1 << 16, 1 << 31, -1 << 31, 1 << 32, 1 << 37, 1 << 40, 1 << 61, 1 << 62, .max, .min,
  ]

  private var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func signed() -> Int32 { Int32(Int8(bitPattern: byte())) }

  /// A size: up to 239 a byte's own value, above that one of the notable numbers or the next two bytes.
  mutating func size() -> Int64 {
    let byte = Int(byte())
    guard byte >= 240 else { return Int64(byte) }
    if byte - 240 < Self.notable.count { return Self.notable[byte - 240] }
    return Int64(self.byte()) << 8 | Int64(self.byte())
  }
}

/// Memory of exactly the length that a contract demands, so that the sanitizer sees every access beyond it.
final class ExactMemory {
  /// The largest memory that is allocated.
  static let limit = 1 << 16

  let base: UnsafeMutableRawPointer
  private let block: UnsafeMutableRawPointer

  /// - Parameter offset: Bytes before `base`, which otherwise has the largest alignment of an element.
  init(byteCount: Int, offset: Int = 0) {
    block = UnsafeMutableRawPointer.allocate(byteCount: byteCount + offset, alignment: 16)
    block.initializeMemory(as: UInt8.self, repeating: 1, count: byteCount + offset)
    base = block + offset
  }

  deinit { block.deallocate() }
}
