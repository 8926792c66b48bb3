import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Matrix products and what is written by them.
  static let products: [ONNXMapper] = [matMul, gemm]

  private static let matMul = ONNXMapper("MatMul") { c in
    [try c.emitter.matmul(try c.input(0), try c.input(1))]
  }

  /// `Y = α · A' · B' + β · C`, where `A'` and `B'` may be transposed and C broadcasts.
  private static let gemm = ONNXMapper("Gemm") { c in [try c.gemm()] }
}

extension ONNXOperation {
  /// Returns the general matrix product of the first inputs.
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
    guard emitter.scalar(a).isFloatingPoint else {
      let columns = transposesB ? try emitter.transpose(b, [1, 0], step: "transposed_b") : b
      return try wholeGemm(rows, columns, alpha, beta, bias)
    }
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

  /// Returns the general product of integer matrices: exact if both factors are integers, else rounded towards zero
  /// once.
  private func wholeGemm(
    _ a: ValueID, _ b: ValueID, _ alpha: Float, _ beta: Float, _ bias: ValueID?
  ) throws -> ValueID {
    let scalar = emitter.scalar(a)
    let addend = beta == 0 ? nil : bias
    let isWhole = [alpha, beta].allSatisfy { $0 == $0.rounded() && abs($0) < 0x1p15 }
    let product = try emitter.matmul(a, b, step: "product")
    func real(_ x: ValueID, _ step: String) throws -> ValueID {
      isWhole ? x : try emitter.cast(x, to: .float64, step: "\(step)_real")
    }
    func times(_ factor: Float, _ x: ValueID, _ step: String) throws -> ValueID {
      let x = try real(x, step)
      guard factor != 1 else { return x }
      let scale = emitter.constant(Double(factor), emitter.scalar(x), step: "\(step)_factor")
      return try emitter.binary(.multiply, x, scale, step: "\(step)_scaled")
    }
    var result = try times(alpha, product, "product")
    if let addend { result = try emitter.binary(.add, result, times(beta, addend, "addend"), step: "sum") }
    return try emitter.cast(result, to: scalar)
  }
}
