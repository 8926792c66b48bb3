import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Elementwise functions of one input.
  static let unaryFunctions: [MILMapper] = [
    unary("abs", .abs), unary("acos", .acos), unary("asin", .asin), unary("atan", .atan), unary("atanh", .atanh),
    unary("ceil", .ceil), unary("cos", .cos), unary("cosh", .cosh), unary("erf", .erf), unary("exp", .exp),
    unary("exp2", .exp2), unary("floor", .floor), unary("logical_not", .logicalNot), unary("relu", .relu),
    unary("round", .round), unary("sigmoid", .sigmoid), unary("sign", .sign), unary("silu", .silu), unary("sin", .sin),
    unary("sinh", .sinh), unary("softplus", .softplus), unary("softsign", .softsign), unary("sqrt", .sqrt),
    unary("square", .square), unary("tan", .tan), unary("tanh", .tanh), inverse, log,
  ]

  /// Elementwise functions of one input and of parameters.
  static let activations: [MILMapper] = [
    unary("clip") { c in .clip(try c.alpha(), try c.beta()) },
    unary("elu") { c in UnaryFunction(.elu, a: try c.alpha()) },
    unary("leaky_relu") { c in UnaryFunction(.leakyRelu, a: try c.alpha()) },
    unary("linear_activation") { c in UnaryFunction(.affine, a: try c.alpha(), b: try c.number("beta") ?? 0) },
    unary("relu6") { _ in .clip(0, 6) },
    unary("rsqrt") { c in UnaryFunction(.rsqrt, a: try c.number("epsilon") ?? 1e-12) },
    unary("scaled_tanh") { c in UnaryFunction(.scaledTanh, a: try c.alpha(), b: try c.beta()) },
    unary("sigmoid_hard") { c in UnaryFunction(.hardSigmoid, a: try c.alpha(), b: try c.beta()) },
    unary("threshold") { c in .clip(try c.alpha(), .infinity) },
    unary("thresholded_relu") { c in UnaryFunction(.thresholdedRelu, a: try c.alpha()) },
    clampedRelu, gelu, prelu, softplusParametric,
  ]

  /// Elementwise operations of two inputs, and selection by booleans.
  static let binaryFunctions: [MILMapper] = [
    binary("add", Binary(.add)), binary("sub", Binary(.subtract)), binary("mul", Binary(.multiply)),
    binary("real_div", Binary(.divide)), binary("maximum", Binary(.maximum)), binary("minimum", Binary(.minimum)),
    binary("pow", Binary(.power)), binary("floor_div", Binary(.floorDivide)), binary("mod", Binary(.modulo)),
    binary("equal", Compare(.equal)), binary("not_equal", Compare(.notEqual)), binary("less", Compare(.less)),
    binary("less_equal", Compare(.lessOrEqual)), binary("greater", Compare(.greater)),
    binary("greater_equal", Compare(.greaterOrEqual)), binary("logical_and", Binary(.logicalAnd)),
    binary("logical_or", Binary(.logicalOr)), binary("logical_xor", Binary(.logicalXor)), select,
  ]

  private static func unary(_ name: String, _ kind: UnaryFunction.Kind) -> MILMapper {
    unary(name) { _ in UnaryFunction(kind) }
  }

  private static func unary(
    _ name: String, _ function: @escaping @Sendable (MILContext) throws -> UnaryFunction
  ) -> MILMapper {
    MILMapper(name) { c in
      let x = try c.x
      return try c.emitter.unary(function(c), x)
    }
  }

  private static func binary(_ name: String, _ op: any Operator) -> MILMapper {
    MILMapper(name) { c in try c.emitter.add(op, c.x, c.value("y")) }
  }

  /// `1 / (x + epsilon)`.
  private static let inverse = MILMapper("inverse") { c in
    let x = try c.x
    let shifted = try c.shifted(x, standard: 1e-4)
    return try c.emitter.unary(UnaryFunction(.reciprocal), shifted)
  }

  /// `ln(x + epsilon)`.
  private static let log = MILMapper("log") { c in
    let x = try c.x
    let shifted = try c.shifted(x, standard: .leastNonzeroMagnitude)
    return try c.emitter.unary(UnaryFunction(.log), shifted)
  }

  /// `min(β, x)` where `x >= 0`, else `min(β, α · x)`.
  private static let clampedRelu = MILMapper("clamped_relu") { c in
    let x = try c.x
    let (alpha, beta) = (try c.alpha(), try c.beta())
    let leaky = try c.emitter.unary(UnaryFunction(.leakyRelu, a: alpha), x, step: "leaky")
    return try c.emitter.unary(.clip(-.infinity, beta), leaky)
  }

  private static let gelu = MILMapper("gelu") { c in
    let x = try c.x
    switch try c.text("mode") ?? "EXACT" {
    case "EXACT": return try c.emitter.unary(UnaryFunction(.gelu), x)
    case "TANH_APPROXIMATION": return try c.emitter.unary(UnaryFunction(.geluTanh), x)
    case "SIGMOID_APPROXIMATION":
      let scaled = try c.emitter.unary(UnaryFunction(.affine, a: 1.702), x, step: "scaled")
      let gate = try c.emitter.unary(.sigmoid, scaled, step: "gate")
      return try c.emitter.binary(.multiply, x, gate)
    case let other: throw c.emitter.invalid("mode '\(other)' is not known")
    }
  }

  private static let prelu = MILMapper("prelu") { c in
    let (x, alpha) = (try c.x, try c.value("alpha"))
    let slope = c.emitter.shape(alpha).count == 1 ? alpha : try c.emitter.channels(alpha, of: x, step: "slope")
    return try c.emitter.prelu(x, slope: slope)
  }

  /// `α · ln(1 + e^(β · x))`, with α and β for each channel.
  private static let softplusParametric = MILMapper("softplus_parametric") { c in
    let (x, beta, alpha) = (try c.x, try c.value("beta"), try c.value("alpha"))
    func factor(_ vector: ValueID, _ step: String) throws -> ValueID {
      let own = try c.emitter.cast(vector, to: c.emitter.scalar(x), step: "\(step)_as_x")
      return try c.emitter.channels(own, of: x, step: step)
    }
    let (inner, outer) = (try factor(beta, "inner_scale"), try factor(alpha, "outer_scale"))
    let scaled = try c.emitter.binary(.multiply, x, inner, step: "scaled")
    let softplus = try c.emitter.unary(UnaryFunction(.softplus), scaled, step: "softplus")
    return try c.emitter.binary(.multiply, softplus, outer)
  }

  private static let select = MILMapper("select") { c in
    let condition = try c.value("cond")
    guard let a = try c.optional("a"), let b = try c.optional("b") else {
      throw c.emitter.invalid(
        "without a and b it returns positions, which is not supported: their number depends on data")
    }
    return try c.emitter.add(Select(), condition, a, b)
  }
}

extension MILContext {
  fileprivate func alpha() throws -> Float { try required("alpha", number) }

  fileprivate func beta() throws -> Float { try required("beta", number) }

  /// Returns `x + epsilon`; an epsilon below the smallest normal float32 is ignored.
  fileprivate func shifted(_ x: ValueID, standard: Float) throws -> ValueID {
    let epsilon = try number("epsilon") ?? standard
    guard abs(epsilon) >= .leastNormalMagnitude else { return x }
    return try emitter.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "shifted")
  }
}
