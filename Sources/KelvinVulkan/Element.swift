import KelvinGraph

/// How one element lies in dense memory inside a segment, and how shaders name it.
///
/// float16 and float32 are one float32, or float16 half a word where it is moved as it is; integers of up to 32 bits, and truth values, are one word with the sign or
/// zeros above; those of 64 bits are two words, the low one first.
struct Element: Hashable, Sendable {
  /// The number in `integers.glsl`.
  enum Kind: Int { case signed, unsigned, signedPair, unsignedPair, float }

  let kind: Kind
  /// Of the graph's type; 1 for truth values.
  let bits: Int
  /// Whether it is a float16 that lies as such.
  let isHalf: Bool

  /// - Precondition: not float64, which no kernel is offered.
  init(_ scalar: ScalarType, isHalf: Bool = false) {
    self.isHalf = isHalf
    switch scalar {
    case .float64: preconditionFailure("float64 values reach no kernel")
    case .float16, .float32: kind = .float
    case .int8, .int16, .int32: kind = .signed
    case .uint8, .uint16, .uint32, .bool: kind = .unsigned
    case .int64: kind = .signedPair
    case .uint64: kind = .unsignedPair
    }
    bits = scalar == .bool ? 1 : scalar.byteCount * 8
  }

  var isPair: Bool { kind == .signedPair || kind == .unsignedPair }
  /// Words of 32 bits.
  var words: Int { isPair ? 2 : 1 }
  /// How a shader reads it as words.
  var format: OperandFormat { isPair ? .uint2 : isHalf ? .short : .uint }
  /// How a shader reads it word by word.
  var wordFormat: OperandFormat { isHalf ? .short : .uint }
  /// How a shader reads it at a segment's boundary.
  var outsideFormat: OperandFormat { bits == 16 ? .short : bits < 16 ? .byte : format }
}
