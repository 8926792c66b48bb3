import KelvinDevices
import KelvinGraph

/// How one element lies in dense memory inside a segment, and how shaders name it.
///
/// float16 and float32 are one float32; integers of up to 32 bits, and truth values, are one word with the sign or
/// zeros above; those of 64 bits are two words, the low one first.
struct Element: Hashable, Sendable {
  /// The number in `integers.glsl`.
  enum Kind: Int { case signed, unsigned, signedPair, unsignedPair, float }

  let kind: Kind
  /// Of the graph's type; 1 for truth values.
  let bits: Int
  /// Whether memory at a segment's boundary looks the same.
  let isSameOutside: Bool

  /// - Returns: nil for float64.
  init?(_ scalar: ScalarType) {
    switch scalar {
    case .float64: return nil
    case .float16, .float32: kind = .float
    case .int8, .int16, .int32: kind = .signed
    case .uint8, .uint16, .uint32, .bool: kind = .unsigned
    case .int64: kind = .signedPair
    case .uint64: kind = .unsignedPair
    }
    bits = scalar == .bool ? 1 : scalar.byteCount * 8
    isSameOutside = scalar.byteCount >= 4
  }

  /// A number as it lies in the even and odd words of a tensor of this type.
  func words(of value: Float, _ scalar: ScalarType) -> (even: UInt32, odd: UInt32) {
    let rounded = Tensor(TensorType(scalar, []), rounding: [Double(value)])
    guard kind != .float else {
      let bits = rounded.floats.first?.bitPattern ?? 0
      return (bits, bits)
    }
    let bits = UInt64(bitPattern: Int64(rounded.integers.first ?? 0))
    let low = UInt32(truncatingIfNeeded: bits)
    return (low, isPair ? UInt32(truncatingIfNeeded: bits >> 32) : low)
  }

  var isPair: Bool { kind == .signedPair || kind == .unsignedPair }
  /// Words of 32 bits.
  var words: Int { isPair ? 2 : 1 }
  /// How a shader reads it as words.
  var format: TexelFormat { isPair ? .uint2 : .uint }
  /// How a shader reads it at a segment's boundary.
  var outsideFormat: TexelFormat { bits == 16 ? .short : bits < 16 ? .byte : format }
}

extension TensorType {
  /// Words of 32 bits that the dense elements take inside a segment.
  var words: Int { count * (Element(scalar)?.words ?? 2) }
}

extension SegmentBuilder {
  /// A value's elements, to be read as words.
  func elements(_ id: ValueID) throws(DeviceError) -> Operand {
    guard let element = Element(type(id).scalar) else { throw error("'\(graph[id].name)' is \(type(id))") }
    return Operand(region: try read(id, .dense), format: element.format)
  }

  /// Brings an integer from the form it has at a segment's boundary to the one it has inside.
  func widen(_ source: Region, _ element: Element, count: Int, to target: Region) {
    cast(
      Operand(region: source, format: element.outsideFormat), element, isOutside: true, element, count: count,
      to: target)
  }

  /// Brings an integer of less than 32 bits to the form it has at a segment's boundary.
  func narrow(_ source: Region, _ element: Element, count: Int, to target: Region) {
    let bits = max(element.bits, 8)
    let words = (count * bits + 31) / 32
    var parameters = Parameters()
    parameters.add(words)
    dispatchFlat(
      "narrow", constants: [bits], parameters, count: words, reads: [Operand(region: source, format: .uint)],
      write: target)
  }

  /// - Parameter isOutside: whether the source has the form of a segment's boundary.
  func cast(
    _ source: Operand, _ from: Element, isOutside: Bool = false, _ to: Element, count: Int, to target: Region
  ) {
    var parameters = Parameters()
    parameters.add(count)
    dispatchFlat(
      "cast", constants: [from.kind.rawValue, isOutside ? from.bits : 32, to.kind.rawValue, to.bits], parameters,
      count: count, reads: [source], write: target)
  }

  /// Copies words as they are.
  func copy(words: Int, _ source: Region, to target: Region) {
    StridedCopy(sizes: [words], source: [1], target: [1]).build(self, source, to: target)
  }
}
