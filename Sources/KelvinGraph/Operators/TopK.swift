/// The largest or smallest elements along one axis, best first.
package struct TopK: Operator {
  package static let name = "top_k"
  package var axis: Int
  package var count: Int
  package var takesLargest: Bool
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

  package static let summary = OperatorSummary(
    formula: "values, positions = the first `count` of x sorted along the axis",
    notes: """
      Of equal elements the one at the lower position comes first; not-a-number counts as larger than every number.
      """,
    inputs: [("x", "numbers")],
    outputs: [
      ("values", "x's type with the axis of size `count`"),
      ("positions", "positions along the axis, in `scalar`"),
    ])

  package static let schema = AttributeSchema(
    TopK(axis: 0, count: 0, takesLargest: true), .required("axis", \.axis, "the axis, counted from the front"),
    .required("count", \.count, "number of elements, at most the axis's"),
    .required("takes_largest", \.takesLargest, "whether the largest come first; otherwise the smallest"),
    .optional("scalar", \.scalar, "the element type of the positions, an integer type"))
}
