import KelvinGraph
import KelvinImport

/// An element type of at most 8 bits for storage and casts. Operators do not compute in it.
///
/// Graphs hold its values in a type that represents all of them: floating-point numbers in float32, integers in 8 bits.
/// Operators that produce such values round or wrap them (`Emitter.cast(_:to:saturates:rounding:)`). Operators that
/// only move elements treat them like others. Names keep their type (`ONNXScope.lowPrecisionType`) for operators that
/// depend on it.
///
/// Reference: ONNX, `docs/docsgen/source/technical/float8.md`, `int4.md` and `float4.md`; Open Compute Project, OCP
/// Microscaling Formats (MX), version 1.0, section 5.3.
enum ONNXLowPrecisionType: Int, CaseIterable, Sendable {
  case float8e4m3fn = 17
  case float8e4m3fnuz, float8e5m2, float8e5m2fnuz, uint4, int4, float4e2m1, float8e8m0, uint2, int2, float6e2m3,
    float6e3m2

  /// The number of bits of an element in a file.
  var bits: Int {
    switch self {
    case .float8e4m3fn, .float8e4m3fnuz, .float8e5m2, .float8e5m2fnuz, .float8e8m0: 8
    case .float6e2m3, .float6e3m2: 6
    case .uint4, .int4, .float4e2m1: 4
    case .uint2, .int2: 2
    }
  }

  /// The type that holds the values in graphs.
  var scalar: ScalarType {
    switch self {
    case .uint4, .uint2: .uint8
    case .int4, .int2: .int8
    default: .float32
    }
  }

  var isFloatingPoint: Bool { scalar.isFloatingPoint }

  /// The range of an integer type; nil for other types.
  var range: ClosedRange<Int>? {
    switch scalar {
    case .uint8: 0...(1 << bits - 1)
    case .int8: -(1 << (bits - 1))...(1 << (bits - 1) - 1)
    default: nil
    }
  }

  /// The layout of a floating-point type with a sign; nil for other types.
  var float: ONNXLowPrecisionFloat? {
    switch self {
    case .float8e4m3fn: ONNXLowPrecisionFloat(exponentBits: 4, mantissaBits: 3, bias: 7, specials: .lastIsNaN)
    case .float8e4m3fnuz: ONNXLowPrecisionFloat(exponentBits: 4, mantissaBits: 3, bias: 8, specials: .negativeZeroIsNaN)
    case .float8e5m2: ONNXLowPrecisionFloat(exponentBits: 5, mantissaBits: 2, bias: 15, specials: .infinities)
    case .float8e5m2fnuz:
      ONNXLowPrecisionFloat(exponentBits: 5, mantissaBits: 2, bias: 16, specials: .negativeZeroIsNaN)
    case .float6e2m3: ONNXLowPrecisionFloat(exponentBits: 2, mantissaBits: 3, bias: 1, specials: .none)
    case .float6e3m2: ONNXLowPrecisionFloat(exponentBits: 3, mantissaBits: 2, bias: 3, specials: .none)
    case .float4e2m1: ONNXLowPrecisionFloat(exponentBits: 2, mantissaBits: 1, bias: 1, specials: .none)
    case .float8e8m0, .uint4, .int4, .uint2, .int2: nil
    }
  }

  /// The value of each code of a floating-point type.
  var floats: [Float] {
    if let float { return (0..<(1 << bits)).map(float.value) }
    // Powers of two; the least is a denormal float32.
    return (0..<255).map { Float(sign: .plus, exponent: $0 - 127, significand: 1) } + [.nan]
  }
}

/// A small floating-point type with a sign, an exponent and a mantissa; exponent 0 encodes the denormal numbers.
struct ONNXLowPrecisionFloat {
  /// The codes that do not represent finite numbers.
  enum Specials {
    case none
    /// The codes with the largest exponent, as in IEEE 754.
    case infinities
    /// Not-a-number only, encoded by ones in all bits but the sign.
    case lastIsNaN
    /// Not-a-number only, in place of negative zero.
    case negativeZeroIsNaN
  }

  let exponentBits: Int
  let mantissaBits: Int
  let bias: Int
  let specials: Specials

  /// The exponent of the denormal numbers and of the least normal numbers.
  var lowestExponent: Int { 1 - bias }

  var highestExponent: Int { (1 << exponentBits - 1) - bias - (specials == .infinities ? 1 : 0) }

  /// The largest finite number.
  var largest: Float {
    let last = (1 << mantissaBits - 1) - (specials == .lastIsNaN ? 1 : 0)
    return Float(sign: .plus, exponent: highestExponent - mantissaBits, significand: Float(1 << mantissaBits + last))
  }

  /// The result for a number that is too large, unless the conversion saturates; nil if it always saturates.
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
