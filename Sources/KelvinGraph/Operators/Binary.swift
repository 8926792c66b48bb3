/// A function of two elements, with NumPy's broadcasting.
package struct Binary: Operator {
  package static let name = "binary"
  package var function: Function

  package init(_ function: Function) { self.function = function }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { function.code }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    guard inputs[0].scalar == inputs[1].scalar, function.takes(inputs[0].scalar) else {
      let expected = function.isLogical ? "booleans or integers" : function.isShift ? "integers" : "numbers of one type"
      throw OperatorError("\(function.rawValue) takes two \(expected), got \(inputs[0]) and \(inputs[1])")
    }
    guard let shape = inputs[0].shape.broadcast(with: inputs[1].shape) else {
      throw OperatorError("shapes \(inputs[0].shape) and \(inputs[1].shape) do not broadcast")
    }
    return [TensorType(inputs[0].scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(outputs[0].count) * (function == .power ? 20 : 1)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .elementwise(precision, inputs[0].scalar, roundings: function == .power ? 64 : 4)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    elementwiseAxes(inputs, output)
  }

  package static let summary = OperatorSummary(
    formula: "z = f(x, y), element by element",
    notes: """
      Shapes broadcast like in NumPy. Integers wrap, and their division truncates. Integer division by zero, including \
      a negative power of zero, gives zero.
      """,
    inputs: [
      ("x", "numbers; booleans for logical functions"),
      ("y", "x's element type"),
    ],
    outputs: [("z", "x's element type in the broadcast shape")],
    functions: Function.entries)

  package static let schema = AttributeSchema(
    Binary(.add), .required("function", \.function, "f, one of the functions below"))
}

extension Binary.Function {
  /// Whether the function combines booleans and bits.
  package var isLogical: Bool {
    switch self {
    case .logicalAnd, .logicalOr, .logicalXor: true
    default: false
    }
  }

  fileprivate var isShift: Bool { self == .shiftLeft || self == .shiftRight }

  package func takes(_ scalar: ScalarType) -> Bool {
    switch scalar {
    case .bool: isLogical
    case .float16, .float32, .float64: !isLogical && !isShift
    default: true
    }
  }
}
