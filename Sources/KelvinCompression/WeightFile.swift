import KelvinGraph

/// The contents of a `weight.bin` file: a header of 64 bytes, then records of 64 bytes, each followed by its elements.
/// Records and elements begin at multiples of 64 bytes.
struct WeightFile {
  private(set) var bytes: [UInt8]
  private var count: UInt32 = 0

  init() {
    bytes = [UInt8](repeating: 0, count: 64)
    store(UInt32(2), at: 4)
  }

  /// Returns the number of bytes that elements take in a file, with their record.
  static func byteCount(of elements: Int) -> Int { 64 + (elements + 63) / 64 * 64 }

  /// Adds elements.
  ///
  /// - Parameters:
  ///   - type: The number of their type in weight files.
  ///   - bits: The number of bits of all elements. The rest of the last byte is not used.
  /// - Returns: The position of their record.
  mutating func add(_ elements: UnsafeRawBufferPointer, type: UInt32, bits: Int) -> Int {
    let record = bytes.count
    bytes += [UInt8](repeating: 0, count: 64)
    store(UInt32(0xDEAD_BEEF), at: record)
    store(type, at: record + 4)
    store(UInt64(elements.count), at: record + 8)
    store(UInt64(record + 64), at: record + 16)
    store(UInt64(8 * elements.count - bits), at: record + 24)
    bytes += elements
    bytes += [UInt8](repeating: 0, count: (64 - bytes.count % 64) % 64)
    count += 1
    store(count, at: 0)
    return record
  }

  private mutating func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self) }
  }
}

/// A record of a weight file, and its elements.
struct WeightRecord {
  /// The number of the elements' type in weight files.
  let type: UInt32
  let elements: Bytes
  /// The number of bits of all elements.
  let bits: Int

  /// Returns nil if there is no record at the position.
  init?(_ file: Bytes, at position: Int) {
    guard let record = file.slice(offset: position, count: 64) else { return nil }
    func load<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type, _ offset: Int) -> Value {
      record.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
    }
    guard load(UInt32.self, 0) == 0xDEAD_BEEF, let count = Int(exactly: load(UInt64.self, 8)),
      let offset = Int(exactly: load(UInt64.self, 16)), let elements = file.slice(offset: offset, count: count)
    else { return nil }
    type = load(UInt32.self, 4)
    bits = 8 * count - Int(min(load(UInt64.self, 24), 7))
    self.elements = elements
  }
}
