#if ONNX
import KelvinGraph

extension ONNXMapper {
  /// `Y = α · A' · B' + β · C`, where `A'` and `B'` may be transposed and C broadcasts.
  static let gemm = ONNXMapper("Gemm") { c in [try c.gemm()] }
}

extension ONNXOperation {
  /// The general matrix product of the first inputs.
  func gemm(step: String? = nil) throws -> ValueID {
    let (a, b) = (try input(0), try input(1))
    let (alpha, beta) = (float("alpha", default: 1), float("beta", default: 1))
    let transposesB = flag("transB")
    guard emitter.shape(a).rank == 2, emitter.shape(b).rank == 2 else {
      throw emitter.invalid("expected two matrices, got \(emitter.type(a)) and \(emitter.type(b))")
    }
    let rows = flag("transA") ? try emitter.transpose(a, [1, 0], step: "transposed_a") : a
    let columns = emitter.shape(b)[transposesB ? 0 : 1]
    let bias = optional(2)
    let weights = transposesB ? b : try emitter.transpose(b, [1, 0], step: "transposed_b")
    if let bias, alpha == 1, beta == 1, emitter.weight(bias) != nil, emitter.shape(bias).count == columns,
      emitter.shape(bias).dimensions.last == columns
    {
      let vector = try emitter.reshape(bias, [columns], step: "bias")
      return try emitter.add(Linear(epilogue: .bias), rows, weights, vector, step: step)
    }
    let addend = beta == 0 ? nil : bias
    var result = try emitter.add(
      Linear(), rows, weights, step: addend == nil && alpha == 1 ? step : "product")
    if alpha != 1 {
      result = try emitter.unary(UnaryFunction(.affine, a: alpha), result, step: addend == nil ? step : "scaled")
    }
    if let addend {
      let scaled =
        beta == 1 ? addend : try emitter.unary(UnaryFunction(.affine, a: beta), addend, step: "scaled_addend")
      result = try emitter.binary(.add, result, scaled, step: step)
    }
    return result
  }
}
#endif
