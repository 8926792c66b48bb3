/// The conversion of an integer sum of products to 8 bits: `clamp(roundHalfEven(float32(sum + bias) * scale) +
/// zeroPoint, lower, upper)`. The product is rounded to float32.
///
/// Its inputs follow the operator's own: bias (int32, one for each output channel or column), scale (float32, one, or
/// one for each channel or column), zero point (one, of `scalar`). `scale` is the product of the operands' scales
/// divided by the result's.
package struct Requantization: Hashable, Sendable {
  /// `int8` or `uint8`.
  package var scalar: ScalarType
  /// The bounds of the result, within the type's range; an activation that clips narrows them.
  package var lower: Int
  package var upper: Int

  package init(_ scalar: ScalarType, lower: Int? = nil, upper: Int? = nil) {
    self.scalar = scalar
    self.lower = lower ?? scalar.quantizedRange?.lowerBound ?? 0
    self.upper = upper ?? scalar.quantizedRange?.upperBound ?? 0
  }

  static let inputCount = 3

  func check(_ extra: ArraySlice<TensorType>, channels: Int) throws(OperatorError) {
    let extra = Array(extra)
    guard scalar.isByte, let range = scalar.quantizedRange, range.contains(lower), range.contains(upper), lower <= upper
    else { throw OperatorError("results of \(scalar.rawValue) from \(lower) to \(upper) are not 8-bit") }
    guard extra[0] == TensorType(.int32, [channels]) else {
      throw OperatorError("bias: expected \(TensorType(.int32, [channels])), got \(extra[0])")
    }
    guard extra[1].scalar == .float32, extra[1].shape.isParameter(of: channels) else {
      throw OperatorError("scale: expected one or \(channels) float32 numbers, got \(extra[1])")
    }
    guard extra[2].scalar == scalar, extra[2].shape.isParameter(of: 1) else {
      throw OperatorError("zero point: expected one \(scalar.rawValue), got \(extra[2])")
    }
  }

  static let inputs: [OperatorSummary.Entry] = [
    ("bias", "only if `requantized`: int32, one for each output channel or column"),
    ("scale", "only if `requantized`: float32, one, or one for each channel or column"),
    ("zero point", "only if `requantized`: one of that type"),
  ]

  static let schema = AttributeSchema(
    Requantization(.uint8),
    .required("requantized", \.scalar, "the type of the result, int8 or uint8; without it the result is the int32 sum"),
    .optional(
      "lower", \.lower, "lower bound of the result", "the least of the type",
      default: { $0.scalar.quantizedRange?.lowerBound ?? 0 }),
    .optional(
      "upper", \.upper, "upper bound of the result", "the greatest of the type",
      default: { $0.scalar.quantizedRange?.upperBound ?? 0 }))
}

extension Shape {
  /// Whether a parameter of this shape is one number, or one for each of `channels`.
  package func isParameter(of channels: Int) -> Bool { rank <= 1 && (count == 1 || count == channels) }
}
