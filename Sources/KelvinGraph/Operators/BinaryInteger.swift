/// A sum or product of two 8-bit tensors that stand for real numbers, in 8 bits again.
///
/// Inputs: x, y (8-bit integers of one type, of shapes that broadcast), then scale (float32) and zero point (that type) of x,
/// of y and of the result, one number each. Output: the broadcast shape in that type, within one of
/// `quantize(f(dequantize(x), dequantize(y)))`: ratios of scales are rounded to float32, as is each sum or product.
package struct BinaryInteger: Operator {
  package static let name = "binary_integer"
  package var function: Binary.Function

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

  /// One step of the result, of a type whose range is 255 steps.
  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    Tolerance(relative: 0, absolute: 0x1p-6)
  }

  package static let schema = AttributeSchema(BinaryInteger(.add), .required("function", \.function))
}
