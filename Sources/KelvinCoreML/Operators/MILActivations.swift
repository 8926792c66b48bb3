import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Activations with parameters.
  static let activations: [MILMapper] = [
    clampedRelu, clip, elu, gelu, leakyRelu, linearActivation, prelu, relu6, scaledTanh, sigmoidHard,
    softplusParametric, threshold, thresholdedRelu,
  ]

  private static let relu6 = MILMapper("relu6") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(.clip(0, 6), x)
  }

  private static let clip = MILMapper("clip") { operation, scope in
    let x = try operation.value("x", scope)
    let (lower, upper) = try operation.alphaAndBeta(scope)
    return try scope.emitter.unary(.clip(lower, upper), x)
  }

  private static let elu = MILMapper("elu") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(UnaryFunction(.elu, a: try operation.alpha(scope)), x)
  }

  private static let leakyRelu = MILMapper("leaky_relu") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(UnaryFunction(.leakyRelu, a: try operation.alpha(scope)), x)
  }

  /// `α · x + β`.
  private static let linearActivation = MILMapper("linear_activation") { operation, scope in
    let x = try operation.value("x", scope)
    let alpha = try operation.alpha(scope)
    return try scope.emitter.unary(UnaryFunction(.affine, a: alpha, b: try operation.number("beta", scope) ?? 0), x)
  }

  private static let sigmoidHard = MILMapper("sigmoid_hard") { operation, scope in
    let x = try operation.value("x", scope)
    let (alpha, beta) = try operation.alphaAndBeta(scope)
    return try scope.emitter.unary(UnaryFunction(.hardSigmoid, a: alpha, b: beta), x)
  }

  private static let gelu = MILMapper("gelu") { operation, scope in
    let x = try operation.value("x", scope)
    switch try operation.text("mode", scope) ?? "EXACT" {
    case "EXACT": return try scope.emitter.unary(UnaryFunction(.gelu), x)
    case "TANH_APPROXIMATION": return try scope.emitter.unary(UnaryFunction(.geluTanh), x)
    case "SIGMOID_APPROXIMATION":
      let scaled = try scope.emitter.unary(UnaryFunction(.affine, a: 1.702), x, step: "scaled")
      let gate = try scope.emitter.unary(.sigmoid, scaled, step: "gate")
      return try scope.emitter.binary(.multiply, x, gate)
    case let other: throw scope.emitter.invalid("mode '\(other)' is not known")
    }
  }

  private static let prelu = MILMapper("prelu") { operation, scope in
    let x = try operation.value("x", scope)
    let alpha = try operation.value("alpha", scope)
    let slope = scope.emitter.shape(alpha).count == 1 ? alpha : try scope.emitter.channels(alpha, of: x, step: "slope")
    return try scope.emitter.prelu(x, slope: slope)
  }

  /// `α · tanh(β · x)`.
  private static let scaledTanh = MILMapper("scaled_tanh") { operation, scope in
    let x = try operation.value("x", scope)
    let (alpha, beta) = try operation.alphaAndBeta(scope)
    return try scope.emitter.unary(UnaryFunction(.scaledTanh, a: alpha, b: beta), x)
  }

  /// `min(β, x)` where `x >= 0`, else `min(β, α · x)`.
  private static let clampedRelu = MILMapper("clamped_relu") { operation, scope in
    let x = try operation.value("x", scope)
    let (alpha, beta) = try operation.alphaAndBeta(scope)
    let leaky = try scope.emitter.unary(UnaryFunction(.leakyRelu, a: alpha), x, step: "leaky")
    return try scope.emitter.unary(.clip(-.infinity, beta), leaky)
  }

  /// `α · ln(1 + e^(β · x))`, with α and β for each channel.
  private static let softplusParametric = MILMapper("softplus_parametric") { operation, scope in
    let x = try operation.value("x", scope)
    let beta = try operation.value("beta", scope)
    let alpha = try operation.value("alpha", scope)
    func factor(_ vector: ValueID, _ step: String) throws -> ValueID {
      let own = try scope.emitter.cast(vector, to: scope.emitter.scalar(x), step: "\(step)_as_x")
      return try scope.emitter.channels(own, of: x, step: step)
    }
    let (inner, outer) = (try factor(beta, "inner_scale"), try factor(alpha, "outer_scale"))
    let scaled = try scope.emitter.binary(.multiply, x, inner, step: "scaled")
    let softplus = try scope.emitter.unary(UnaryFunction(.softplus), scaled, step: "softplus")
    return try scope.emitter.binary(.multiply, softplus, outer)
  }

  /// `max(x, α)`.
  private static let threshold = MILMapper("threshold") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(.clip(try operation.alpha(scope), .infinity), x)
  }

  /// `x` where `x >= α`, else 0.
  private static let thresholdedRelu = MILMapper("thresholded_relu") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(UnaryFunction(.thresholdedRelu, a: try operation.alpha(scope)), x)
  }
}

extension MILOperation {
  fileprivate func alpha(_ scope: MILScope) throws -> Float {
    try required(try number("alpha", scope), "alpha", scope)
  }

  fileprivate func alphaAndBeta(_ scope: MILScope) throws -> (Float, Float) {
    (try alpha(scope), try required(try number("beta", scope), "beta", scope))
  }
}
