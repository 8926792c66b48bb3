/// Running sums or products along one axis.
package struct CumulativeReduce: Operator {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible { case sum, product }

  package static let name = "cumulative_reduce"
  package var function: Function
  package var axis: Int
  package var isExclusive: Bool
  package var isReversed: Bool

  package init(_ function: Function, axis: Int, isExclusive: Bool = false, isReversed: Bool = false) {
    self.function = function
    self.axis = axis
    self.isExclusive = isExclusive
    self.isReversed = isReversed
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    guard inputs[0].scalar != .bool, (0..<inputs[0].shape.rank).contains(axis) else {
      throw OperatorError("expected numbers with an axis \(axis), got \(inputs[0])")
    }
    return inputs
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(outputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    let (scalar, length) = (inputs[0].scalar, inputs[0].shape[axis])
    return switch function {
    case .sum: .accumulation(precision, scalar, length: length)
    case .product: .elementwise(precision, scalar, roundings: Double(length))
    }
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    sameAxes(output) { $0 == axis }
  }

  package static let summary = OperatorSummary(
    formula: "y[i] = Σ x[0 … i] or Π x[0 … i]",
    notes: "A device may round each product to float32.",
    inputs: [("x", "numbers")],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    CumulativeReduce(.sum, axis: 0), .required("function", \.function, "sum or product"),
    .required("axis", \.axis, "the axis, counted from the front"),
    .optional("exclusive", \.isExclusive, "whether results omit `x[i]` itself, and begin with 0 or 1"),
    .optional("reversed", \.isReversed, "whether results run from the end"))
}
