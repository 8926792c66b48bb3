import KelvinGraph

extension ONNXMapper {
  /// `Y = α · A' · B' + β · C`, where `A'` and `B'` may be transposed and C broadcasts.
  static let gemm = ONNXMapper("Gemm") { c in
    let (a, b) = (try c.input(0), try c.input(1))
    let (alpha, beta) = (c.float("alpha", default: 1), c.float("beta", default: 1))
    let transposesB = c.flag("transB")
    guard c.emitter.shape(a).rank == 2, c.emitter.shape(b).rank == 2 else {
      throw c.emitter.invalid("expected two matrices, got \(c.emitter.type(a)) and \(c.emitter.type(b))")
    }
    let rows = c.flag("transA") ? try c.emitter.transpose(a, [1, 0], step: "transposed_a") : a
    let columns = c.emitter.shape(b)[transposesB ? 0 : 1]
    let bias = c.optional(2)
    let weights = transposesB ? b : try c.emitter.transpose(b, [1, 0], step: "transposed_b")
    if let bias, alpha == 1, beta == 1, c.emitter.weight(bias) != nil, c.emitter.shape(bias).count == columns,
      c.emitter.shape(bias).dimensions.last == columns
    {
      let vector = try c.emitter.reshape(bias, [columns], step: "bias")
      return [try c.emitter.add(Linear(epilogue: .bias), rows, weights, vector)]
    }
    let addend = beta == 0 ? nil : bias
    var result = try c.emitter.add(
      Linear(), rows, weights, step: addend == nil && alpha == 1 ? nil : "product")
    if alpha != 1 {
      result = try c.emitter.unary(UnaryFunction(.affine, a: alpha), result, step: addend == nil ? nil : "scaled")
    }
    if let addend {
      let scaled =
        beta == 1 ? addend : try c.emitter.unary(UnaryFunction(.affine, a: beta), addend, step: "scaled_addend")
      result = try c.emitter.binary(.add, result, scaled)
    }
    return [result]
  }
}
