/// Permutes axes.
package struct Transpose: Operator {
  package static let name = "transpose"
  package var permutation: [Int]

  package init(_ permutation: [Int]) { self.permutation = permutation }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard permutation.sorted() == Array(0..<inputs[0].shape.rank) else {
      throw OperatorError("\(permutation) is not a permutation of the axes of \(inputs[0])")
    }
    return [TensorType(inputs[0].scalar, Shape(permutation.map { inputs[0].shape[$0] }))]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    permutation.enumerated().map { SplitAxis($0, self, [$1]) }
  }

  package static let summary = OperatorSummary(
    formula: "axis i of y = axis permutation[i] of x",
    inputs: [("x", "any type")],
    outputs: [("y", "x's elements in the permuted shape")])

  package static let schema = AttributeSchema(
    Transpose([]), .required("permutation", \.permutation, "the axis of x for each axis of y"))
}
