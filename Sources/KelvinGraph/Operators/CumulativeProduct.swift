/// `y[i] = Π x[0 ... i]` along one axis.
///
/// Input: x, numbers. Output: the same type. Exclusive products leave out `x[i]` itself and begin with 1; reversed
/// ones run from the end. A device may round each product to float32.
package struct CumulativeProduct: Operator {
  package static let name = "cumulative_product"
  /// Counted from the front.
  package var axis: Int
  package var isExclusive: Bool
  package var isReversed: Bool

  package init(axis: Int, isExclusive: Bool = false, isReversed: Bool = false) {
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
    .elementwise(precision, inputs[0].scalar, roundings: Double(inputs[0].shape[axis]))
  }

  package static let schema = AttributeSchema(
    CumulativeProduct(axis: 0), .required("axis", \.axis), .optional("exclusive", \.isExclusive),
    .optional("reversed", \.isReversed))
}
