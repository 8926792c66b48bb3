/// A sum or product of two 8-bit quantized tensors, with an 8-bit result.
package struct BinaryInteger: Operator {
  package static let name = "binary_integer"
  package var function: Binary.Function

  /// Creates the operator.
  ///
  /// - Parameter function: `add` or `multiply`.
  package init(_ function: Binary.Function) { self.function = function }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 8...8)
    let (x, y) = (inputs[0], inputs[1])
    guard function == .add || function == .multiply else {
      throw OperatorError("expected add or multiply, got \(function.rawValue)")
    }
    guard x.scalar.isByte, x.scalar == y.scalar, let shape = x.shape.broadcast(with: y.shape) else {
      throw OperatorError("expected 8-bit integers of one type whose shapes broadcast, got \(x) and \(y)")
    }
    for (scale, zero) in [(2, 3), (4, 5), (6, 7)] {
      guard inputs[scale].scalar == .float32, inputs[scale].shape.isParameter(of: 1), inputs[zero].scalar == x.scalar,
        inputs[zero].shape.isParameter(of: 1)
      else {
        throw OperatorError(
          "expected one float32 scale and one \(x.scalar.rawValue) zero point, got \(inputs[scale]) and "
            + "\(inputs[zero])")
      }
    }
    return [TensorType(x.scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 5 * Double(outputs[0].count) }

  /// Returns a tolerance of one quantization step, given a range of 255 steps.
  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    Tolerance(relative: 0, absolute: 0x1p-6)
  }

  package static let summary = OperatorSummary(
    formula: "z = quantize(f(dequantize(x), dequantize(y)))",
    notes: """
      A result is within one step of the formula: ratios of scales, sums and products are each rounded to float32.
      """,
    inputs: [
      ("x", "8-bit integers"),
      ("y", "x's element type, a shape that broadcasts with x's"),
      ("x scale", "one float32"),
      ("x zero point", "one number of x's type"),
      ("y scale", "one float32"),
      ("y zero point", "one number of x's type"),
      ("z scale", "one float32"),
      ("z zero point", "one number of x's type"),
    ],
    outputs: [("z", "x's element type in the broadcast shape")])

  package static let schema = AttributeSchema(
    BinaryInteger(.add), .required("function", \.function, "f, `add` or `multiply`"))
}
