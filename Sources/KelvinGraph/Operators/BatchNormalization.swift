/// Batch normalization with statistics fixed at training.
package struct BatchNormalization: Operator {
  package static let name = "batch_normalization"
  package var epsilon: Float

  package init(epsilon: Float) { self.epsilon = epsilon }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 5...5)
    guard inputs[0].scalar.isFloatingPoint, inputs[0].shape.rank >= 2 else {
      throw OperatorError("expected a floating-point [N, C, …], got \(inputs[0])")
    }
    let vector = TensorType(inputs[0].scalar, [inputs[0].shape[1]])
    for (name, type) in zip(["scale", "shift", "mean", "variance"], inputs.dropFirst()) where type != vector {
      throw OperatorError("\(name): expected \(vector), got \(type)")
    }
    return [inputs[0]]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 2 * Double(outputs[0].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .elementwise(precision, inputs[0].scalar, roundings: 16)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    output.shape.dimensions.indices.map { axis in
      SplitAxis(axis, self, [axis] + [Int?](repeating: axis == 1 ? 0 : nil, count: 4))
    }
  }

  package static let summary = OperatorSummary(
    formula: "y = scale · (x - mean) / sqrt(variance + epsilon) + shift",
    notes: "The statistics are fixed at training.",
    inputs: [
      ("x", "`[N, C, …]`, floating-point"),
      ("scale", "`[C]`, x's element type"),
      ("shift", "`[C]`, x's element type"),
      ("mean", "`[C]`, x's element type"),
      ("variance", "`[C]`, x's element type"),
    ],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    BatchNormalization(epsilon: 0), .required("epsilon", \.epsilon, "added to the variance"))
}
