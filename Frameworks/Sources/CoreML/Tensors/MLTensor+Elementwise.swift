import Kelvin

extension MLTensor {
  /// Notes a function of each element that has fractions; integers become float32.
  private func function(_ kind: String) -> MLTensor {
    let x = type.isFloatingPoint ? self : cast(.float32)
    return MLTensor(kind, [.node(x.node)], shape: shape, type: x.type)
  }

  /// Notes a function of each number, which keeps its type.
  private func numeric(_ kind: String) -> MLTensor {
    let x = type == .bool ? cast(.int32) : self
    return MLTensor(kind, [.node(x.node)], shape: shape, type: x.type)
  }

  /// Notes a rounding, which does not change integers.
  private func rounding(_ kind: String) -> MLTensor { type.isFloatingPoint ? function(kind) : self }

  /// The absolute values.
  public func abs() -> MLTensor { numeric("Abs") }
  /// The inverse cosines.
  public func acos() -> MLTensor { function("Acos") }
  /// The inverse hyperbolic cosines.
  public func acosh() -> MLTensor { function("Acosh") }
  /// The inverse sines.
  public func asin() -> MLTensor { function("Asin") }
  /// The inverse hyperbolic sines.
  public func asinh() -> MLTensor { function("Asinh") }
  /// The inverse tangents.
  public func atan() -> MLTensor { function("Atan") }
  /// The inverse hyperbolic tangents.
  public func atanh() -> MLTensor { function("Atanh") }
  /// The least integers that are not less.
  public func ceil() -> MLTensor { rounding("Ceil") }
  /// The cosines.
  public func cos() -> MLTensor { function("Cos") }
  /// The hyperbolic cosines.
  public func cosh() -> MLTensor { function("Cosh") }
  /// The powers of e.
  public func exp() -> MLTensor { function("Exp") }
  /// The powers of 2.
  public func exp2() -> MLTensor { (2.0 as MLTensor).pow(type.isFloatingPoint ? self : cast(.float32)) }
  /// The greatest integers that are not greater.
  public func floor() -> MLTensor { rounding("Floor") }
  /// The natural logarithms.
  public func log() -> MLTensor { function("Log") }
  /// 1 divided by each element.
  public func reciprocal() -> MLTensor { function("Reciprocal") }
  /// The nearest integers; halves go to the even one.
  public func round() -> MLTensor { rounding("Round") }
  /// 1 divided by the square roots.
  public func rsqrt() -> MLTensor { function("Sqrt").reciprocal() }
  /// The signs: -1, 0 or 1.
  public func sign() -> MLTensor { numeric("Sign") }
  /// The sines.
  public func sin() -> MLTensor { function("Sin") }
  /// The hyperbolic sines.
  public func sinh() -> MLTensor { function("Sinh") }
  /// The square roots.
  public func squareRoot() -> MLTensor { function("Sqrt") }
  /// The squares.
  public func squared() -> MLTensor { self * self }
  /// The tangents.
  public func tan() -> MLTensor { function("Tan") }
  /// The hyperbolic tangents.
  public func tanh() -> MLTensor { function("Tanh") }

  /// The elements, or the nearest bounds of those outside. The type stays.
  public func clamped(to bounds: ClosedRange<Float>) -> MLTensor {
    clamped(to: bounds.lowerBound...).clamped(to: ...bounds.upperBound)
  }

  /// The elements, or the bound for those below. The type stays.
  public func clamped(to bounds: PartialRangeFrom<Float>) -> MLTensor {
    pointwiseMax(self, MLTensor(floatLiteral: bounds.lowerBound)).cast(type)
  }

  /// The elements, or the bound for those above. The type stays.
  public func clamped(to bounds: PartialRangeThrough<Float>) -> MLTensor {
    pointwiseMin(self, MLTensor(floatLiteral: bounds.upperBound)).cast(type)
  }

  /// The elements to the power of `exponent`, which is broadcast.
  public func pow(_ exponent: MLTensor) -> MLTensor { Self.arithmetic("Pow", self, exponent) }
  /// The elements to the power of `exponent`, which is broadcast.
  public func pow(_ exponent: some MLTensorScalar & Numeric) -> MLTensor { pow(MLTensor(exponent)) }
}

extension MLTensor {
  /// Notes a function of pairs of elements. Sizes of 1 are repeated.
  ///
  /// - Parameter result: the type of the results; nil for the common type of the operands.
  fileprivate static func pairs(
    _ kind: String, _ left: MLTensor, _ right: MLTensor, as type: MultiArrayDataType, result: MultiArrayDataType? = nil,
    _ attributes: KeyValuePairs<String, TensorOperation.Attribute> = [:]
  ) -> MLTensor {
    MLTensor(
      kind, [.node(left.cast(type).node), .node(right.cast(type).node)], attributes,
      shape: broadcast([left.shape, right.shape], kind), type: result ?? type)
  }

  /// The common type of two operands.
  fileprivate static func type(_ left: MLTensor, _ right: MLTensor) -> MultiArrayDataType {
    switch (left.node.isLiteral, right.node.isLiteral) {
    case (true, false): left.type.adapted(to: right.type)
    case (false, true): right.type.adapted(to: left.type)
    default: left.type.promoted(with: right.type)
    }
  }

  /// Notes a function of pairs of numbers; Booleans become int32.
  fileprivate static func arithmetic(
    _ kind: String, _ left: MLTensor, _ right: MLTensor,
    _ attributes: KeyValuePairs<String, TensorOperation.Attribute> = [:]
  ) -> MLTensor {
    let type = type(left, right)
    return pairs(kind, left, right, as: type == .bool ? .int32 : type, attributes)
  }

  private static func comparison(_ kind: String, _ left: MLTensor, _ right: MLTensor) -> MLTensor {
    pairs(kind, left, right, as: type(left, right), result: .bool)
  }

  private static func logical(_ kind: String, _ left: MLTensor, _ right: MLTensor) -> MLTensor {
    precondition(left.type == .bool && right.type == .bool, "\(kind) of \(left.scalarType) and \(right.scalarType)")
    return pairs(kind, left, right, as: .bool)
  }

  /// Returns the shape of a result of operands whose sizes of 1 are repeated.
  ///
  /// - Precondition: the other sizes are equal, counted from the last dimension.
  static func broadcast(_ shapes: [[Int]], _ caller: String) -> [Int] {
    var result = [Int](repeating: 1, count: shapes.map(\.count).max() ?? 0)
    for shape in shapes {
      for (axis, size) in zip(result.indices.suffix(shape.count), shape) where size != 1 {
        precondition(result[axis] == 1 || result[axis] == size, "\(caller): shapes \(shapes) do not fit")
        result[axis] = size
      }
    }
    return result
  }

  /// The sums.
  public static func + (left: MLTensor, right: MLTensor) -> MLTensor { arithmetic("Add", left, right) }
  /// The sums.
  public static func + (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left + MLTensor(right) }
  /// The sums.
  public static func + (left: some MLTensorScalar & Numeric, right: MLTensor) -> MLTensor { MLTensor(left) + right }
  /// Adds a tensor.
  public static func += (left: inout MLTensor, right: MLTensor) { left = left + right }

  /// The differences.
  public static func - (left: MLTensor, right: MLTensor) -> MLTensor { arithmetic("Sub", left, right) }
  /// The differences.
  public static func - (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left - MLTensor(right) }
  /// The differences.
  public static func - (left: some MLTensorScalar & Numeric, right: MLTensor) -> MLTensor { MLTensor(left) - right }
  /// Subtracts a tensor.
  public static func -= (left: inout MLTensor, right: MLTensor) { left = left - right }
  /// The elements with the opposite sign.
  public static prefix func - (tensor: MLTensor) -> MLTensor { tensor.numeric("Neg") }

  /// The products.
  public static func * (left: MLTensor, right: MLTensor) -> MLTensor { arithmetic("Mul", left, right) }
  /// The products.
  public static func * (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left * MLTensor(right) }
  /// The products.
  public static func * (left: some MLTensorScalar & Numeric, right: MLTensor) -> MLTensor { MLTensor(left) * right }
  /// Multiplies by a tensor.
  public static func *= (left: inout MLTensor, right: MLTensor) { left = left * right }

  /// The quotients; those of integers are cut off.
  public static func / (left: MLTensor, right: MLTensor) -> MLTensor { arithmetic("Div", left, right) }
  /// The quotients; those of integers are cut off.
  public static func / (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left / MLTensor(right) }
  /// The quotients; those of integers are cut off.
  public static func / (left: some MLTensorScalar & Numeric, right: MLTensor) -> MLTensor { MLTensor(left) / right }
  /// Divides by a tensor.
  public static func /= (left: inout MLTensor, right: MLTensor) { left = left / right }

  /// The remainders, with the sign of the dividend.
  public static func % (left: MLTensor, right: MLTensor) -> MLTensor {
    arithmetic("Mod", left, right, ["fmod": .integer(1)])
  }
  /// The remainders, with the sign of the dividend.
  public static func % (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left % MLTensor(right) }
  /// The remainders, with the sign of the dividend.
  public static func % (left: some MLTensorScalar & Numeric, right: MLTensor) -> MLTensor { MLTensor(left) % right }
  /// Keeps the remainder of the division by a tensor.
  public static func %= (left: inout MLTensor, right: MLTensor) { left = left % right }

  /// Whether elements are equal.
  public static func .== (left: MLTensor, right: MLTensor) -> MLTensor { comparison("Equal", left, right) }
  /// Whether elements are equal.
  public static func .== (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .== MLTensor(right) }
  /// Whether elements differ.
  public static func .!= (left: MLTensor, right: MLTensor) -> MLTensor { .!(left .== right) }
  /// Whether elements differ.
  public static func .!= (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .!= MLTensor(right) }
  /// Whether the left elements are less.
  public static func .< (left: MLTensor, right: MLTensor) -> MLTensor { comparison("Less", left, right) }
  /// Whether the left elements are less.
  public static func .< (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .< MLTensor(right) }
  /// Whether the left elements are not greater.
  public static func .<= (left: MLTensor, right: MLTensor) -> MLTensor { comparison("LessOrEqual", left, right) }
  /// Whether the left elements are not greater.
  public static func .<= (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .<= MLTensor(right) }
  /// Whether the left elements are greater.
  public static func .> (left: MLTensor, right: MLTensor) -> MLTensor { comparison("Greater", left, right) }
  /// Whether the left elements are greater.
  public static func .> (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .> MLTensor(right) }
  /// Whether the left elements are not less.
  public static func .>= (left: MLTensor, right: MLTensor) -> MLTensor { comparison("GreaterOrEqual", left, right) }
  /// Whether the left elements are not less.
  public static func .>= (left: MLTensor, right: some MLTensorScalar & Numeric) -> MLTensor { left .>= MLTensor(right) }

  /// Whether both Booleans are true.
  public static func .& (left: MLTensor, right: MLTensor) -> MLTensor { logical("And", left, right) }
  /// Whether a Boolean is true.
  public static func .| (left: MLTensor, right: MLTensor) -> MLTensor { logical("Or", left, right) }
  /// Whether exactly one Boolean is true.
  public static func .^ (left: MLTensor, right: MLTensor) -> MLTensor { logical("Xor", left, right) }
  /// The opposite Booleans.
  public static prefix func .! (tensor: MLTensor) -> MLTensor {
    precondition(tensor.type == .bool, "logical not of \(tensor.scalarType)")
    return MLTensor("Not", [.node(tensor.node)], shape: tensor.shape, type: .bool)
  }
}

/// Returns the lesser of each two elements. Sizes of 1 are repeated.
public func pointwiseMin(_ left: MLTensor, _ right: MLTensor) -> MLTensor { MLTensor.arithmetic("Min", left, right) }
/// Returns the lesser of each two elements. Sizes of 1 are repeated.
public func pointwiseMin(_ left: MLTensor, _ right: some MLTensorScalar & Numeric) -> MLTensor {
  pointwiseMin(left, MLTensor(right))
}
/// Returns the lesser of each two elements. Sizes of 1 are repeated.
public func pointwiseMin(_ left: some MLTensorScalar & Numeric, _ right: MLTensor) -> MLTensor {
  pointwiseMin(MLTensor(left), right)
}
/// Returns the greater of each two elements. Sizes of 1 are repeated.
public func pointwiseMax(_ left: MLTensor, _ right: MLTensor) -> MLTensor { MLTensor.arithmetic("Max", left, right) }
/// Returns the greater of each two elements. Sizes of 1 are repeated.
public func pointwiseMax(_ left: MLTensor, _ right: some MLTensorScalar & Numeric) -> MLTensor {
  pointwiseMax(left, MLTensor(right))
}
/// Returns the greater of each two elements. Sizes of 1 are repeated.
public func pointwiseMax(_ left: some MLTensorScalar & Numeric, _ right: MLTensor) -> MLTensor {
  pointwiseMax(MLTensor(left), right)
}
