import Glibc

/// Integers of 1 to 8 bits each, one after another without gaps: the encoding of indices, masks and quantized elements
/// in model files.
///
/// The elements are a bit stream: element `i` takes the `bits` bits from bit `i · bits` on.
package struct PackedIntegers: Sendable {
  package enum BitOrder: Hashable, Sendable {
    /// The stream starts at each byte's least significant bit, and so does each element (ML Programs).
    case leastSignificantFirst
    /// The stream starts at each byte's most significant bit, and so does each element (neural network files).
    case mostSignificantFirst
  }

  package let bits: Int
  /// Whether elements are two's-complement numbers.
  package let isSigned: Bool
  package let order: BitOrder
  package let shape: Shape
  package let bytes: Bytes

  /// Creates the integers.
  ///
  /// - Parameter bytes: The stream, with unused bits only in its last byte.
  /// - Throws: `GraphError` if the number of bits is not in 1…8, or if the stream does not have the length for `shape`.
  package init(
    _ bytes: Bytes, bits: Int, isSigned: Bool = false, order: BitOrder = .leastSignificantFirst, shape: Shape
  ) throws(GraphError) {
    guard (1...8).contains(bits) else {
      throw GraphError("packed integers", "elements have \(bits) bits, expected 1 to 8")
    }
    guard shape.isAddressable else { throw GraphError("packed integers", "\(shape) is not a valid shape") }
    let expected = Self.byteCount(shape.count, bits: bits)
    guard bytes.count == expected else {
      throw GraphError(
        "packed integers", "\(shape) of \(bits) bits takes \(expected) bytes, the file has \(bytes.count)")
    }
    self.bits = bits
    self.isSigned = isSigned
    self.order = order
    self.shape = shape
    self.bytes = bytes
  }

  /// Returns the number of bytes of a stream of `count` elements. `count` is that of an addressable shape.
  package static func byteCount(_ count: Int, bits: Int) -> Int { (count * bits + 7) / 8 }

  /// Returns the stream of the lowest `bits` bits of each element, least significant bit first.
  package static func packing(_ values: [Int], bits: Int) -> Bytes {
    var stream = [UInt8](repeating: 0, count: byteCount(values.count, bits: bits))
    for (index, value) in values.enumerated() {
      let field = UInt16(truncatingIfNeeded: value) & (1 << bits - 1)
      let place = index * bits
      let spread = field << (place % 8)
      stream[place / 8] |= UInt8(truncatingIfNeeded: spread)
      if spread > 0xFF { stream[place / 8 + 1] |= UInt8(spread >> 8) }
    }
    return Bytes(stream)
  }

  package var count: Int { shape.count }

  /// The type of the unpacked elements.
  package var type: TensorType { TensorType(isSigned ? .int8 : .uint8, shape) }

  /// The number of nonzero elements.
  package var nonzeroCount: Int {
    guard bits == 1 else { return unpacked().bytes.withUnsafeBytes { $0.reduce(0) { $0 + ($1 == 0 ? 0 : 1) } } }
    return bytes.withUnsafeBytes { raw in
      let whole = count / 8
      var total = 0
      var place = 0
      while place + 8 <= whole {
        total += raw.loadUnaligned(fromByteOffset: place, as: UInt64.self).nonzeroBitCount
        place += 8
      }
      for byte in raw[place..<whole] { total += byte.nonzeroBitCount }
      let rest = count % 8
      guard rest > 0 else { return total }
      let last = raw[whole]
      let used = order == .leastSignificantFirst ? last & (1 << rest - 1) : last >> (8 - rest)
      return total + used.nonzeroBitCount
    }
  }

  /// Returns every element in a separate byte.
  package func unpacked() -> Tensor {
    Tensor(
      type,
      Bytes(count: count) { raw in
        guard let base = raw.baseAddress else { return }
        unpack(0..<count, to: base.assumingMemoryBound(to: UInt8.self))
      })
  }

  /// Writes the elements of a range, each to a separate byte; negative ones in two's complement.
  ///
  /// - Precondition: The range is within `0..<count`.
  package func unpack(_ range: Range<Int>, to target: UnsafeMutablePointer<UInt8>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    if bits == 8 {
      bytes.withUnsafeBytes { raw in
        guard let base = raw.baseAddress else { return }
        memcpy(target, base + range.lowerBound, range.count)
      }
      return
    }
    let spread = BitSpread(bits: bits, isSigned: isSigned)
    bytes.withUnsafeBytes { raw in
      /// Eight elements take `bits` whole bytes.
      func group(_ index: Int) -> UInt64 {
        let offset = index * bits
        var word: UInt64 = 0
        if offset + 8 <= raw.count {
          word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        } else {
          for place in offset..<min(offset + bits, raw.count) { word |= UInt64(raw[place]) << (8 * (place - offset)) }
        }
        switch order {
        case .leastSignificantFirst: return spread(UInt64(littleEndian: word))
        case .mostSignificantFirst: return spread(UInt64(bigEndian: word) >> (64 - 8 * bits)).byteSwapped
        }
      }
      var (place, output) = (range.lowerBound, target)
      while place < range.upperBound {
        let skipped = place % 8
        let word = group(place / 8).littleEndian
        let count = min(8 - skipped, range.upperBound - place)
        if count == 8 {
          UnsafeMutableRawPointer(output).storeBytes(of: word, as: UInt64.self)
        } else {
          withUnsafeBytes(of: word) { bytes in
            for index in 0..<count { output[index] = bytes[skipped + index] }
          }
        }
        place += count
        output += count
      }
    }
  }
}

/// Moves eight adjacent fields of fewer than eight bits into the eight bytes of a word, in three steps: halves,
/// quarters, then single fields.
private struct BitSpread {
  private let halves: (low: UInt64, shift: UInt64)
  private let quarters: (low: UInt64, high: UInt64, shift: UInt64)
  private let fields: (low: UInt64, high: UInt64, shift: UInt64)
  private let sign: UInt64

  init(bits: Int, isSigned: Bool) {
    let bits = UInt64(bits)
    func mask(_ count: UInt64) -> UInt64 { 1 << count - 1 }
    halves = (mask(4 * bits), 32 - 4 * bits)
    let quarter = mask(2 * bits) * 0x1_0000_0001
    quarters = (quarter, quarter << (2 * bits), 16 - 2 * bits)
    let field = mask(bits) * 0x1_0001_0001_0001
    fields = (field, field << bits, 8 - bits)
    sign = isSigned ? (1 << (bits - 1)) * 0x101_0101_0101_0101 : 0
  }

  @inline(__always)
  func callAsFunction(_ packed: UInt64) -> UInt64 {
    var word = packed & halves.low | (packed & (halves.low << (32 - halves.shift))) << halves.shift
    word = word & quarters.low | (word & quarters.high) << quarters.shift
    word = word & fields.low | (word & fields.high) << fields.shift
    guard sign != 0 else { return word }
    // Each byte is extended separately: the sign bit is at most 0x40, so that no byte carries into the next.
    return ((word ^ sign) | 0x8080_8080_8080_8080) &- sign ^ 0x8080_8080_8080_8080
  }
}
