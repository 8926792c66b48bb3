import KelvinGraph

/// The storage of one element in dense memory inside a segment, and its name in shaders.
///
/// float32 takes one word, and float16 either a float32 word or, if stored as float16, half a word. Integers of up to
/// 32 bits and booleans take one word, sign- or zero-extended. 64-bit integers take two words, the low one first.
struct Element: Hashable, Sendable {
  /// The element kinds, numbered as in `integers.glsl`.
  enum Kind: Int { case signed, unsigned, signedPair, unsignedPair, float }

  let kind: Kind
  /// Bits of the graph's type; 1 for booleans.
  let bits: Int
  /// Whether the element is a float16 that is stored as float16.
  let isHalf: Bool

  /// - Precondition: the type is not float64, which no kernel supports.
  init(_ scalar: ScalarType, isHalf: Bool = false) {
    self.isHalf = isHalf
    switch scalar {
    case .float64: preconditionFailure("no kernel takes float64 values")
    case .float16, .float32: kind = .float
    case .int8, .int16, .int32: kind = .signed
    case .uint8, .uint16, .uint32, .bool: kind = .unsigned
    case .int64: kind = .signedPair
    case .uint64: kind = .unsignedPair
    }
    bits = scalar == .bool ? 1 : scalar.byteCount * 8
  }

  var isPair: Bool { kind == .signedPair || kind == .unsignedPair }
  /// The number of 32-bit words.
  var words: Int { isPair ? 2 : 1 }
  /// The format in which a shader reads the element.
  var format: OperandFormat { isPair ? .uint2 : isHalf ? .short : .uint }
  /// The format in which a shader reads the element at a segment's boundary.
  var outsideFormat: OperandFormat { bits == 16 ? .short : bits < 16 ? .byte : format }
}
