/// A product of rows that are quantized by their own range and constant or computed 8-bit weights, plus an epilogue.
package struct LinearInteger: FusedOperator {
  package static let name = "linear_integer"
  package var epilogue: Epilogue

  package init(epilogue: Epilogue = Epilogue()) { self.epilogue = epilogue }

  /// The number of inputs before those of the epilogue.
  package static let ownInputs = 4

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = Self.ownInputs + epilogue.inputCount
    try OperatorError.require(inputs, expected...expected)
    let (x, weights) = (inputs[0], inputs[1])
    guard x.scalar == .float32, weights.scalar.isByte, x.shape.rank >= 2, weights.shape.rank == 2,
      x.shape.dimensions.last == weights.shape[1]
    else {
      throw OperatorError("expected float32 rows […, R, K] and 8-bit weights [M, K], got \(x) and \(weights)")
    }
    let channels = weights.shape[0]
    guard inputs[2].scalar == .float32, inputs[2].shape.isParameter(of: channels) else {
      throw OperatorError("scale: expected one or \(channels) float32 numbers, got \(inputs[2])")
    }
    guard inputs[3].scalar == weights.scalar, inputs[3].shape.isParameter(of: channels) else {
      throw OperatorError("zero point: expected one or \(channels) of \(weights.scalar.rawValue), got \(inputs[3])")
    }
    let output = TensorType(.float32, Shape(x.shape.dimensions.dropLast() + [channels]))
    try epilogue.check(inputs[Self.ownInputs...], channels: channels, output: output)
    return [output]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(inputs[1].shape[1]) + 5 * Double(inputs[0].count)
      + 2 * Double(outputs[0].count) + epilogue.operations(count: outputs[0].count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(.full, .float32, length: inputs[1].shape[1])
  }

  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    var body = Graph(bodyOf: types)
    let operands = body.inputs
    var result = try Self.appendProduct(to: &body, Array(operands.prefix(Self.ownInputs)), areRows: true)
    for addend in operands.dropFirst(Self.ownInputs) {
      result = try body.append(Binary(.add), [result, addend], "sum\(addend.index - Self.ownInputs)")
    }
    if let activation = epilogue.activation { result = try body.append(Unary(activation), [result], "activation") }
    body.outputs = [result]
    return body
  }

  /// Appends the operators of ONNX's `DynamicQuantizeLinear` and of the product that follows, without an epilogue.
  ///
  /// - Parameters:
  ///   - operands: The layer's own inputs.
  ///   - areRows: Whether the weights are `[M, K]`; otherwise they are `[K, M]`.
  /// - Returns: The value of the scaled product.
  package static func appendProduct(
    to body: inout Graph, _ operands: [ValueID], areRows: Bool
  ) throws(GraphError) -> ValueID {
    let (x, weights, scales, zeros) = (operands[0], operands[1], operands[2], operands[3])
    func number(_ name: String, _ value: Float) -> ValueID { body.constant(name, Weight(Tensor([value], []))) }
    func binary(
      _ function: Binary.Function, _ x: ValueID, _ y: ValueID, _ name: String
    ) throws(GraphError) -> ValueID {
      try body.append(Binary(function), [x, y], name)
    }
    let axes = Array(0..<body[x].type.shape.rank)
    let none = number("none", 0)
    let largest = try body.append(Reduce(.maximum, axes: axes, keepsDimensions: false), [x], "largest")
    let smallest = try body.append(Reduce(.minimum, axes: axes, keepsDimensions: false), [x], "smallest")
    let upper = try binary(.maximum, largest, none, "upper")
    let lower = try binary(.minimum, smallest, none, "lower")
    let range = try binary(.subtract, upper, lower, "range")
    let quotient = try binary(.divide, range, number("steps", 255), "quotient")
    let isEmpty = try body.append(Compare(.equal), [range, none], "is_empty")
    let scale = try body.append(Select(), [isEmpty, number("one", 1), quotient], "scale")
    let offset = try binary(.subtract, none, try binary(.divide, lower, scale, "below"), "offset")
    let clipped = try body.append(Unary(.clip(0, 255)), [offset], "clipped")
    let rounded = try body.append(Unary(UnaryFunction(.round)), [clipped], "rounded")
    let zero = try body.append(Cast(.uint8), [rounded], "zero")
    let quantized = try body.append(Quantize(scalar: .uint8), [x, scale, zero], "quantized")
    let sums = try body.append(MatMulInteger(transposesY: areRows), [quantized, weights, zero, zeros], "sums")
    let real = try body.append(Cast(.float32), [sums], "real")
    return try binary(.multiply, real, try binary(.multiply, scale, scales, "scales"), "scaled")
  }

  package static let summary = OperatorSummary(
    formula: "y = activation(q · Wᵀ · (s · scale) + bias + residual)",
    notes: """
      `s` and `z` map the range of all of x, extended to zero, to 0 … 255: `s = (max(x, 0) - min(x, 0)) / 255`, or 1 if \
      that is zero, and `z = saturate(roundHalfEven(-min(x, 0) / s))`. `q = saturate(roundHalfEven(x / s) + z) - z`, \
      and the zero point is subtracted from the weights. The sums are exact in int32. They are converted to float32; \
      the product with `s · scale` and each sum that follows are rounded to float32 in this order.
      """,
    inputs: [
      ("x", "`[…, R, K]`, float32"),
      ("weights", "`[M, K]`, 8-bit integers"),
      ("scale", "one, or `[M]`, float32: the weights' scales"),
      ("zero point", "one, or `[M]`, of the weights' type"),
    ] + Epilogue.inputs,
    outputs: [("y", "`[…, R, M]`, float32")])

  package static let schema = AttributeSchema(LinearInteger(), .group(\.epilogue, Epilogue.schema))
}
