import KelvinGraph
import KelvinImport

/// The rounding to float8e8m0, which represents only powers of two.
enum PowerRounding: String {
  /// To the next larger power.
  case up
  /// To the next smaller power.
  case down
  /// To the nearest power, with ties to the larger one.
  case nearest
}

/// Casts to low-precision element types, which graphs hold in wider types.
extension Emitter {
  /// Returns the values of `x` in a low-precision type, held in its `scalar`. Floating-point numbers are rounded to
  /// nearest even. For integer types, numbers lose their fraction first, then integers keep their low bits.
  ///
  /// - Parameters:
  ///   - saturates: Whether a value outside the range of a floating-point type becomes the largest finite number.
  ///     Otherwise it becomes infinity or, if the type has no infinity, not-a-number.
  ///   - rounding: The rounding to `float8e8m0`; not used for other types.
  func cast(
    _ x: ValueID, to type: ONNXLowPrecisionType, saturates: Bool, rounding: PowerRounding = .up
  ) throws -> ValueID {
    guard let range = type.range else {
      let wide = try cast(x, to: .float32, step: "wide")
      guard let float = type.float else { return try power(wide, saturates: saturates, rounding: rounding) }
      return try rounded(wide, to: float, saturates: saturates)
    }
    let whole = try cast(x, to: .int32, step: "whole")
    let count = constant(Double(range.count), .int32, step: "count")
    guard range.lowerBound < 0 else {
      return try cast(try binary(.modulo, whole, count, step: "low_bits"), to: type.scalar)
    }
    let first = constant(Double(range.lowerBound), .int32, step: "first")
    let shifted = try binary(.subtract, whole, first, step: "shifted")
    let low = try binary(.modulo, shifted, count, step: "low_bits")
    return try cast(try binary(.add, low, first, step: "signed"), to: type.scalar)
  }

  /// Rounds to a floating-point type.
  ///
  /// `x = ±f · 2^e` with `1 ≤ f < 2` becomes `±round(f · 2^m) · 2^(e - m)`. `m` is the number of mantissa bits, and `e`
  /// is at least the exponent of the least normal number.
  ///
  /// Products with powers of two are exact. The exponent is computed by a logarithm, which may be off by one only next
  /// to a power of two, where both exponents round to that power.
  private func rounded(_ x: ValueID, to float: ONNXLowPrecisionFloat, saturates: Bool) throws -> ValueID {
    let exponents = float.lowestExponent...float.highestExponent
    let places = try binaryPlaces(of: x, in: exponents) { try unary(UnaryFunction(.floor), $0, step: "exponent") }
    let steps = float.mantissaBits
    let enlarged = try binary(
      .multiply, x, try powers(places, exponents.map { steps - $0 }, step: "enlargement"), step: "enlarged")
    let whole = try unary(UnaryFunction(.round), enlarged, step: "whole")
    let sizes = try powers(places, exponents.map { $0 - steps }, step: "reduction")
    let isSaturated = saturates || float.overflow == nil
    let losesSign = float.specials == .negativeZeroIsNaN
    var result = try binary(.multiply, whole, sizes, step: "reduced")
    if isSaturated {
      result = try unary(.clip(-float.largest, float.largest), result, step: losesSign ? "clipped" : nil)
    } else if let overflow = float.overflow {
      let size = try unary(UnaryFunction(.abs), result, step: "size")
      let largest = constant(Double(float.largest), .float32, step: "largest")
      let isOutside = try add(Compare(.greater), size, largest, step: "is_outside")
      let outside = try binary(
        .multiply, result, constant(Double(overflow), .float32, step: "overflow"), step: "outside")
      result = try add(Select(), [isOutside, outside, result], step: losesSign ? "in_range" : nil)
    }
    guard losesSign else { return result }
    let zero = constant(0, .float32, step: "zero")
    return try add(Select(), [try add(Compare(.equal), result, zero, step: "is_zero"), zero, result])
  }

  /// Rounds the magnitude of `x` to a power of two.
  private func power(_ x: ValueID, saturates: Bool, rounding: PowerRounding) throws -> ValueID {
    let exponents = -127...127
    let size = try unary(UnaryFunction(.abs), x, step: "size")
    let places = try binaryPlaces(of: x, in: exponents) { try unary(UnaryFunction(.round), $0, step: "exponent") }
    let near = try powers(places, Array(exponents), step: "near")
    func above() throws -> ValueID { try powers(places, exponents.map { min($0 + 1, 127) }, step: "above") }
    func below() throws -> ValueID { try powers(places, exponents.map { max($0 - 1, -127) }, step: "below") }
    func limit(_ factor: Double) throws -> ValueID {
      try binary(.multiply, near, constant(factor, .float32, step: "factor"), step: "limit")
    }
    var result: ValueID
    switch rounding {
    case .up:
      result = try add(
        Select(), [try add(Compare(.greater), size, near, step: "is_above"), above(), near], step: "power")
    case .down:
      result = try add(
        Select(), [try add(Compare(.less), size, near, step: "is_below"), below(), near], step: "power")
    case .nearest:
      let isBelow = try add(Compare(.less), size, limit(0.75), step: "is_below")
      let lower = try add(Select(), [isBelow, below(), near], step: "lower")
      let isAbove = try add(Compare(.greaterOrEqual), size, limit(1.5), step: "is_above")
      result = try add(Select(), [isAbove, above(), lower], step: "power")
    }
    // The comparison is false for not-a-number.
    let bound = saturates ? Double.infinity : 0x1p127
    var isInside = try add(
      Compare(.lessOrEqual), size, constant(bound, .float32, step: "largest"), step: "is_not_too_large")
    if !saturates {
      let least = try add(
        Compare(.greaterOrEqual), size, constant(0x1p-127, .float32, step: "least"), step: "is_not_too_small")
      isInside = try binary(.logicalAnd, isInside, least, step: "is_inside")
    }
    return try add(Select(), [isInside, result, constant(.nan, .float32, step: "none")])
  }

  /// Returns for each element the index of its exponent, clamped to a range; 0 for not-a-number.
  private func binaryPlaces(
    of x: ValueID, in exponents: ClosedRange<Int>, _ settle: (ValueID) throws -> ValueID
  ) throws -> ValueID {
    let natural = try unary(
      UnaryFunction(.log), try unary(UnaryFunction(.abs), x, step: "magnitude"), step: "logarithm")
    let binary = try unary(UnaryFunction(.affine, a: 1.442695), natural, step: "binary_logarithm")
    let bounds = UnaryFunction.clip(Float(exponents.lowerBound), Float(exponents.upperBound))
    let exponent = try unary(bounds, try settle(binary), step: "exponent_in_range")
    let place = try unary(
      UnaryFunction(.affine, a: 1, b: -Float(exponents.lowerBound)), exponent, step: "place_from_first")
    return try cast(place, to: .int32, step: "place")
  }

  /// Returns a power of two for each index.
  private func powers(_ places: ValueID, _ exponents: [Int], step: String) throws -> ValueID {
    let powers = exponents.map { Float(sign: .plus, exponent: $0, significand: 1) }
    let table = constant(Weight(Tensor(powers, [powers.count])), step: "\(step)s")
    return try add(Gather(axis: 0), table, places, step: step)
  }
}
