/// Normalization by the mean and the variance of the axes from `axis` on, or by the mean square.
package struct LayerNormalization: DecomposableOperator {
  package static let name = "layer_normalization"
  package var axis: Int
  package var epsilon: Float
  /// Whether the mean is subtracted. Otherwise the mean square takes the place of the variance.
  package var isCentered: Bool

  package init(axis: Int, epsilon: Float, isCentered: Bool = true) {
    self.axis = axis
    self.epsilon = epsilon
    self.isCentered = isCentered
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...3)
    let x = inputs[0]
    guard x.scalar.isFloatingPoint, (0..<x.shape.rank).contains(axis) else {
      throw OperatorError("expected a floating-point tensor with an axis \(axis), got \(x)")
    }
    let expected = TensorType(x.scalar, Shape(Array(x.shape.dimensions[axis...])))
    for (name, type) in zip(["scale", "shift"], inputs.dropFirst()) where type != expected {
      throw OperatorError("\(name): expected \(expected), got \(type)")
    }
    return [x]
  }

  /// Returns the number of elements of each mean.
  package func length(_ inputs: [TensorType]) -> Int { inputs[0].shape.dimensions[axis...].reduce(1, *) }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(outputs[0].count) * Double(5 + inputs.count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    let unit = precision.unitRoundoff(inputs[0].scalar)
    return Tolerance(relative: 32 * unit, absolute: (16 + 2 * Double(max(length(inputs), 1)).squareRoot()) * unit)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    (0..<axis).map { SplitAxis($0, self, [$0, nil, nil].prefix(inputs.count).map(\.self)) }
  }

  /// A normalization by the mean square as squares, their mean and products.
  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    guard !isCentered else { return nil }
    var body = Graph(bodyOf: types)
    let x = body.inputs[0]
    let mean = Reduce(.mean, axes: Array(axis..<types[0].shape.rank), keepsDimensions: true)
    let squares = try body.append(Unary(UnaryFunction(.square)), [x], "squares")
    let square = try body.append(mean, [squares], "mean_square")
    let inverse = try body.append(Unary(UnaryFunction(.rsqrt, a: epsilon)), [square], "inverse")
    var result = try body.append(Binary(.multiply), [x, inverse], "normalized")
    for (function, parameter) in zip([Binary.Function.multiply, .add], body.inputs.dropFirst()) {
      result = try body.append(Binary(function), [result, parameter], function.rawValue)
    }
    body.outputs = [result]
    return body
  }

  package static let summary = OperatorSummary(
    formula: "y = (x - mean) / sqrt(variance + epsilon) · scale + shift",
    notes: """
      Mean and variance are of x over `axis` and the axes after it. The variance has the divisor n, not n - 1. \
      Statistics are computed in at least float32. Without `centered`, `y = x / sqrt(mean(x²) + epsilon) · scale + shift`.
      """,
    inputs: [
      ("x", "floating-point"),
      ("scale", "optional: `x.shape[axis…]`, x's element type"),
      ("shift", "optional, after a scale: like scale"),
    ],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    LayerNormalization(axis: 0, epsilon: 0),
    .required("axis", \.axis, "the first axis of the statistics, counted from the front"),
    .required("epsilon", \.epsilon, "added to the variance"),
    .optional("centered", \.isCentered, "whether the mean is subtracted"))
}
