import Glibc

/// A weight as low-bit codes and their meaning, block by block. It is the common form of palettized and linearly
/// quantized weights, for devices that unpack weights during the computation.
package struct BlockQuantizedWeight: Sendable {
  /// The value of a code, given the block of the weight.
  package enum Meaning: Sendable {
    /// `scale · (code - zero)`, with one zero point.
    case multiples(scales: Weight, zero: Float)
    /// `scale · (code - zero)`, with a zero point for each block (`zeros(of:)`).
    case shifted(scales: Weight, offsets: Weight)
    /// `scale · code + bias`.
    case biased(scales: Weight, biases: Weight)
    /// The entry of a table with `length` entries.
    case entries(tables: Weight, length: Int)
  }

  package let type: TensorType
  /// The number of bits of a code: 1, 2, 4 or 8.
  package let bits: Int
  /// The number of blocks along each axis.
  package let blocks: Shape
  package let meaning: Meaning
  /// 8-bit integers; the value `lowest` has the code 0.
  private let elements: Weight
  private let lowest: Int

  fileprivate init?(_ elements: Weight, blocks: Shape, _ type: TensorType, _ meaning: (_ lowest: Int) -> Meaning?) {
    let bits = elements.quantizedBits
    lowest = elements.type.scalar == .int8 ? -1 << (bits - 1) : 0
    guard let meaning = meaning(lowest) else { return nil }
    self.elements = elements
    self.blocks = blocks
    self.type = type
    self.meaning = meaning
    self.bits = [1, 2, 4].first { bits <= $0 } ?? 8
  }

  /// Returns every code in a separate byte, row-major.
  package func codes() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: type.count) { target, initialized in
      if let start = target.baseAddress { codeReader().read(0..<type.count, to: start) }
      initialized = type.count
    }
  }

  /// Returns a reader of parts of the codes. It holds all of them unless the file stores them without another encoding.
  package func codeReader() -> CodeReader { CodeReader(elements, lowest: lowest) }

  /// Returns the zero point of each block from the offsets of `Meaning.shifted`.
  package func zeros(of offsets: Weight) -> [Float] { offsets.dense().floats.map { $0 - Float(lowest) } }
}

/// Reads parts of the codes of a weight.
package struct CodeReader {
  private enum Source {
    case packed(PackedIntegers)
    case bytes(Bytes)
  }

  private let source: Source
  private let lowest: UInt8

  fileprivate init(_ elements: Weight, lowest: Int) {
    self.lowest = UInt8(truncatingIfNeeded: lowest)
    if case .packed(let integers) = elements.encoding {
      source = .packed(integers)
    } else {
      source = .bytes(elements.dense().bytes)
    }
  }

  /// Writes a range of codes, row-major, each to a separate byte.
  ///
  /// - Precondition: The range is within the weight.
  package func read(_ range: Range<Int>, to target: UnsafeMutablePointer<UInt8>) {
    switch source {
    case .packed(let integers): integers.unpack(range, to: target)
    case .bytes(let bytes):
      precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
      bytes.withUnsafeBytes { raw in
        guard let start = raw.baseAddress else { return }
        UnsafeMutableRawPointer(target).copyMemory(from: start + range.lowerBound, byteCount: range.count)
      }
    }
    if lowest != 0 { for index in 0..<range.count { target[index] &-= lowest } }
  }
}

extension Weight {
  /// Whether the encoding of the weight uses codes; it may still not have the form of `blockQuantized`.
  package var isBlockQuantized: Bool {
    switch encoding {
    case .palettized, .affine: true
    default: false
    }
  }

  /// The weight as codes; nil if its encoding has no such form: masks, tables of vectors, scales of floating-point
  /// numbers, offsets that are not integers, and weights that are computed from others.
  package var blockQuantized: BlockQuantizedWeight? {
    switch encoding {
    case .palettized(let palettized): palettized.blockQuantized
    case .affine(let affine): affine.blockQuantized
    default: nil
    }
  }
}

extension PalettizedWeight {
  fileprivate var blockQuantized: BlockQuantizedWeight? {
    let sizes = table.type.shape.dimensions
    guard sizes[sizes.count - 1] == 1, table.type.scalar.isFloatingPoint else { return nil }
    return BlockQuantizedWeight(
      indices, blocks: Shape(Array(sizes.dropLast(2))), TensorType(table.type.scalar, indices.type.shape)
    ) { _ in .entries(tables: table, length: sizes[sizes.count - 2]) }
  }
}

extension AffineWeight {
  /// Integers up to this magnitude and their differences are exact in float16.
  private static let wholeLimit: Float = 1024

  fileprivate var blockQuantized: BlockQuantizedWeight? {
    guard !data.type.scalar.isFloatingPoint else { return nil }
    return BlockQuantizedWeight(data, blocks: scale.type.shape, TensorType(scale.type.scalar, data.type.shape)) {
      lowest in
      if let bias { return lowest == 0 ? .biased(scales: scale, biases: bias) : nil }
      guard let offset else { return .multiples(scales: scale, zero: Float(-lowest)) }
      let zeros = offset.dense()
      if !zeros.type.scalar.isFloatingPoint {
        guard zeros.count > 0 else { return nil }
        guard let first = zeros.bytes.onlyByte else { return .shifted(scales: scale, offsets: offset) }
        let shared = zeros.type.scalar == .int8 ? Int(Int8(bitPattern: first)) : Int(first)
        return .multiples(scales: scale, zero: Float(shared - lowest))
      }
      let values = zeros.floats
      guard let first = values.first,
        values.allSatisfy({ $0.magnitude <= Self.wholeLimit && $0 == $0.rounded(.towardZero) })
      else { return nil }
      return values.allSatisfy { $0 == first }
        ? .multiples(scales: scale, zero: first - Float(lowest)) : .shifted(scales: scale, offsets: offset)
    }
  }
}

extension Bytes {
  /// The byte that all bytes are equal to; nil if there is none. Large weights have millions of zero points.
  fileprivate var onlyByte: UInt8? {
    withUnsafeBytes { raw in
      guard let start = raw.baseAddress, let first = raw.first else { return nil }
      return memcmp(start, start + 1, raw.count - 1) == 0 ? first : nil
    }
  }
}
