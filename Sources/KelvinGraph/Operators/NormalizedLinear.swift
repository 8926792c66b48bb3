/// A product of constant weights and rows that are normalized first, plus an epilogue. For a few rows, a kernel computes
/// their statistics as fast as it reads them.
package struct NormalizedLinear: DecomposableOperator {
  package static let name = "normalized_linear"
  package var epsilon: Float
  /// Whether the mean is subtracted. Otherwise the mean square takes the place of the variance.
  package var isCentered: Bool
  /// The number of parameters of the normalization: none, a scale, or a scale and a shift.
  package var parameters: Int
  package var epilogue: Epilogue

  package init(epsilon: Float, isCentered: Bool = true, parameters: Int, epilogue: Epilogue = Epilogue()) {
    self.epsilon = epsilon
    self.isCentered = isCentered
    self.parameters = parameters
    self.epilogue = epilogue
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    guard (0...2).contains(parameters) else { throw OperatorError("\(parameters) parameters of a normalization") }
    let expected = 2 + parameters + epilogue.inputCount
    try OperatorError.require(inputs, expected...expected)
    guard let length = inputs[0].shape.dimensions.last else { throw OperatorError("expected rows, got \(inputs[0])") }
    for type in inputs[2..<(2 + parameters)] where type != TensorType(inputs[0].scalar, [length]) {
      throw OperatorError("expected a scale and a shift of \(length) elements, got \(type)")
    }
    return try Linear(epilogue: epilogue).infer(Array(inputs[..<2] + inputs[(2 + parameters)...]))
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(inputs[1].shape[1]) + epilogue.operations(count: outputs[0].count)
      + Double(inputs[0].count) * Double(6 + parameters)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: 4 * inputs[1].shape[1])
  }

  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    var body = Graph(bodyOf: types)
    let inputs = body.inputs
    let norm = LayerNormalization(axis: types[0].shape.rank - 1, epsilon: epsilon, isCentered: isCentered)
    let rows = body.addValue(Value(name: "normalized", type: types[0]))
    body.nodes.append(
      try .decomposable(
        name: "normalized", op: norm, inputs: [inputs[0]] + inputs[2..<(2 + parameters)],
        types: [types[0]] + types[2..<(2 + parameters)], output: rows, origins: []))
    let linear = Linear(epilogue: epilogue)
    let operands = [rows, inputs[1]] + inputs[(2 + parameters)...]
    let result: TensorType
    do { result = try linear.infer(body.types(operands))[0] } catch {
      throw GraphError("\(Self.name) '\(Linear.name)'", error.description)
    }
    let output = body.addValue(Value(name: "product", type: result))
    body.nodes.append(
      try .decomposable(
        name: "product", op: linear, inputs: operands, types: body.types(operands), output: output, origins: []))
    body.outputs = [output]
    return body
  }

  package static let summary = OperatorSummary(
    formula: "y = activation(n · Wᵀ + bias + residual), n = (x - mean) / sqrt(variance + epsilon) · scale + shift",
    notes: """
      Mean and variance are of each row of x, as for `layer_normalization`.
      """,
    inputs: [
      ("x", "`[…, K]`, floating-point"), ("weights", "`[M, K]`, x's element type"),
      ("scale", "only with `parameters`: `[K]`, x's element type"),
      ("shift", "only with two `parameters`: like scale"),
    ] + Epilogue.inputs,
    outputs: [("y", "`[…, M]`, x's element type")])

  package static let schema = AttributeSchema(
    NormalizedLinear(epsilon: 0, parameters: 0), .required("epsilon", \.epsilon, "added to the variance"),
    .optional("centered", \.isCentered, "whether the mean is subtracted"),
    .optional("parameters", \.parameters, "number of parameters of the normalization, 0 to 2"),
    .group(\.epilogue, Epilogue.schema))
}
