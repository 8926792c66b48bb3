/// A product with constant or computed weights, plus an epilogue.
package struct Linear: Operator {
  package static let name = "linear"
  package var epilogue: Epilogue

  package init(epilogue: Epilogue = Epilogue()) { self.epilogue = epilogue }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = 2 + epilogue.inputCount
    try OperatorError.require(inputs, expected...expected)
    let (x, weights) = (inputs[0], inputs[1])
    guard x.scalar.isFloatingPoint, weights.scalar == x.scalar, x.shape.rank >= 1, weights.shape.rank == 2,
      x.shape.dimensions.last == weights.shape[1]
    else {
      throw OperatorError("expected […, K] and weights [M, K] of one floating-point type, got \(x) and \(weights)")
    }
    let output = TensorType(x.scalar, Shape(x.shape.dimensions.dropLast() + [weights.shape[0]]))
    try epilogue.check(inputs[2...], channels: weights.shape[0], output: output)
    return [output]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(inputs[1].shape[1]) + epilogue.operations(count: outputs[0].count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: inputs[1].shape[1])
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let columns = output.shape.rank - 1
    return (0...columns).map { axis in
      SplitAxis(axis) { range in
        let part = Part.Operand(axis: axis == columns ? 0 : axis, range: range)
        let own = axis == columns ? [nil, part] : [part, nil]
        return Part(self, own + epilogue.parts(axis: axis, range, isOfChannels: axis == columns))
      }
    }
  }

  package static let summary = OperatorSummary(
    formula: "y = activation(x · Wᵀ + bias + residual)",
    inputs: [
      ("x", "`[…, K]`, floating-point"),
      ("weights", "`[M, K]`, x's element type"),
    ] + Epilogue.inputs,
    outputs: [("y", "`[…, M]`, x's element type")])

  package static let schema = AttributeSchema(Linear(), .group(\.epilogue, Epilogue.schema))
}
