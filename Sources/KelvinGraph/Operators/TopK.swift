/// The largest or smallest elements along one axis, best first.
///
/// Input: x, numbers. Outputs: the values, x's type with the axis of size `count`; their positions along the axis, in
/// `scalar`. Of equal elements the one at the lower position comes first; not-a-number counts as larger than every
/// number.
package struct TopK: Operator {
  package static let name = "top_k"
  /// The axis, counted from the front.
  package var axis: Int
  package var count: Int
  package var takesLargest: Bool
  /// The element type of the positions, an integer type.
  package var scalar: ScalarType

  package init(axis: Int, count: Int, takesLargest: Bool, scalar: ScalarType = .int64) {
    self.axis = axis
    self.count = count
    self.takesLargest = takesLargest
    self.scalar = scalar
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    var x = inputs[0]
    guard x.scalar != .bool, (0..<x.shape.rank).contains(axis), !scalar.isFloatingPoint, scalar != .bool else {
      throw OperatorError(
        "expected numbers with an axis \(axis) and integer positions, got \(x) and \(scalar.rawValue)")
    }
    guard (0...x.shape[axis]).contains(count) else {
      throw OperatorError("axis \(axis) of \(x) does not have \(count) elements")
    }
    x.shape[axis] = count
    return [x, TensorType(scalar, x.shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    var levels = 1
    while levels < 62, 1 << levels <= count { levels += 1 }
    return Double(inputs[0].count) * Double(levels)
  }

  package static let schema = AttributeSchema(
    TopK(axis: 0, count: 0, takesLargest: true), .required("axis", \.axis), .required("count", \.count),
    .required("takes_largest", \.takesLargest), .optional("scalar", \.scalar))
}
