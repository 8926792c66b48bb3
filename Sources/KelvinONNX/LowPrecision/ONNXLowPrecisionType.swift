import KelvinGraph
import KelvinImport

/// An element type of at most 8 bits that tensors are stored in and cast to, and nothing is computed in.
///
/// Graphs hold its values in a type that has them all: floating-point numbers in float32, integers in 8 bits. What makes
/// such values rounds or wraps to them (`Emitter.cast(_:to:saturates:rounding:)`); what only moves elements needs to know
/// nothing. Names remember their type (`ONNXScope.lowPrecisionType`), for the operators that ask for it.
///
/// Reference: ONNX, `docs/docsgen/source/technical/float8.md`, `int4.md` and `float4.md`; Open Compute Project, OCP
/// Microscaling Formats (MX), version 1.0, section 5.3.
enum ONNXLowPrecisionType: Int, CaseIterable, Sendable {
  case float8e4m3fn = 17
  case float8e4m3fnuz, float8e5m2, float8e5m2fnuz, uint4, int4, float4e2m1, float8e8m0, uint2, int2, float6e2m3, float6e3m2

  /// Bits that an element takes in a file.
  var bits: Int {
    switch self {
    case .float8e4m3fn, .float8e4m3fnuz, .float8e5m2, .float8e5m2fnuz, .float8e8m0: 8
    case .float6e2m3, .float6e3m2: 6
    case .uint4, .int4, .float4e2m1: 4
    case .uint2, .int2: 2
    }
  }

  /// The type that holds its values in graphs.
  var scalar: ScalarType {
    switch self {
    case .uint4, .uint2: .uint8
    case .int4, .int2: .int8
    default: .float32
    }
  }

  var isFloatingPoint: Bool { scalar.isFloatingPoint }

  /// The values of an integer type; nil of the others.
  var range: ClosedRange<Int>? {
    switch scalar {
    case .uint8: 0...(1 << bits - 1)
    case .int8: -(1 << (bits - 1))...(1 << (bits - 1) - 1)
    default: nil
    }
  }

  /// How a floating-point type with a sign is made; nil of the others.
  var float: ONNXLowPrecisionFloat? {
    switch self {
    case .float8e4m3fn: ONNXLowPrecisionFloat(exponentBits: 4, mantissaBits: 3, bias: 7, specials: .lastIsNaN)
    case .float8e4m3fnuz: ONNXLowPrecisionFloat(exponentBits: 4, mantissaBits: 3, bias: 8, specials: .negativeZeroIsNaN)
    case .float8e5m2: ONNXLowPrecisionFloat(exponentBits: 5, mantissaBits: 2, bias: 15, specials: .infinities)
    case .float8e5m2fnuz: ONNXLowPrecisionFloat(exponentBits: 5, mantissaBits: 2, bias: 16, specials: .negativeZeroIsNaN)
    case .float6e2m3: ONNXLowPrecisionFloat(exponentBits: 2, mantissaBits: 3, bias: 1, specials: .none)
    case .float6e3m2: ONNXLowPrecisionFloat(exponentBits: 3, mantissaBits: 2, bias: 3, specials: .none)
    case .float4e2m1: ONNXLowPrecisionFloat(exponentBits: 2, mantissaBits: 1, bias: 1, specials: .none)
    case .float8e8m0, .uint4, .int4, .uint2, .int2: nil
    }
  }

  /// The value of each code of a floating-point type.
  var floats: [Float] {
    if let float { return (0..<(1 << bits)).map(float.value) }
    // Powers of two; the least is a denormal number of float32.
    return (0..<255).map { Float(sign: .plus, exponent: $0 - 127, significand: 1) } + [.nan]
  }
}

/// A floating-point type of few bits: a sign, an exponent, a mantissa; exponent 0 has the denormal numbers.
struct ONNXLowPrecisionFloat {
  /// Which codes are no numbers.
  enum Specials {
    case none
    /// The largest exponent, as in IEEE 754.
    case infinities
    /// Not-a-number alone, where all bits but the sign are ones.
    case lastIsNaN
    /// Not-a-number alone, in place of the negative zero.
    case negativeZeroIsNaN
  }

  let exponentBits: Int
  let mantissaBits: Int
  let bias: Int
  let specials: Specials

  /// Of denormal and of the least normal numbers.
  var lowestExponent: Int { 1 - bias }

  var highestExponent: Int { (1 << exponentBits - 1) - bias - (specials == .infinities ? 1 : 0) }

  /// The largest finite number.
  var largest: Float {
    let last = (1 << mantissaBits - 1) - (specials == .lastIsNaN ? 1 : 0)
    return Float(sign: .plus, exponent: highestExponent - mantissaBits, significand: Float(1 << mantissaBits + last))
  }

  /// What is made of a number that is too large, where that is not the largest there is; nil where it always is.
  var overflow: Float? {
    switch specials {
    case .none: nil
    case .infinities: .infinity
    case .lastIsNaN, .negativeZeroIsNaN: .nan
    }
  }

  func value(_ code: Int) -> Float {
    let mantissa = code & (1 << mantissaBits - 1)
    let exponent = code >> mantissaBits & (1 << exponentBits - 1)
    let sign: FloatingPointSign = code >> (mantissaBits + exponentBits) == 0 ? .plus : .minus
    let isLast = exponent == 1 << exponentBits - 1
    switch specials {
    case .infinities where isLast: return mantissa == 0 ? Float(sign: sign, exponent: 0, significand: .infinity) : .nan
    case .lastIsNaN where isLast && mantissa == 1 << mantissaBits - 1: return .nan
    case .negativeZeroIsNaN where sign == .minus && exponent == 0 && mantissa == 0: return .nan
    default: break
    }
    let whole = exponent == 0 ? mantissa : 1 << mantissaBits + mantissa
    return Float(sign: sign, exponent: max(exponent, 1) - bias - mantissaBits, significand: Float(whole))
  }
}
