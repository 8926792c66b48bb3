import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Elementwise functions of one input.
  static let unaryFunctions: [MILMapper] = [
    unary("abs", .abs), unary("acos", .acos), unary("asin", .asin), unary("atan", .atan), unary("atanh", .atanh),
    unary("ceil", .ceil), unary("cos", .cos), unary("cosh", .cosh), unary("erf", .erf), unary("exp", .exp),
    unary("exp2", .exp2),
    unary("floor", .floor), unary("relu", .relu), unary("round", .round), unary("sigmoid", .sigmoid),
    unary("sign", .sign), unary("silu", .silu), unary("sin", .sin), unary("sinh", .sinh), unary("softplus", .softplus),
    unary("softsign", .softsign), unary("sqrt", .sqrt), unary("square", .square), unary("tan", .tan),
    unary("tanh", .tanh),
    inverse, log, rsqrt,
  ]

  private static func unary(_ name: String, _ kind: UnaryFunction.Kind) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      return try scope.emitter.unary(UnaryFunction(kind), x)
    }
  }

  /// `1 / (x + epsilon)`.
  private static let inverse = MILMapper("inverse") { operation, scope in
    let x = try operation.value("x", scope)
    let shifted = try operation.shifted(x, standard: 1e-4, scope)
    return try scope.emitter.unary(UnaryFunction(.reciprocal), shifted)
  }

  /// `ln(x + epsilon)`.
  private static let log = MILMapper("log") { operation, scope in
    let x = try operation.value("x", scope)
    let shifted = try operation.shifted(x, standard: .leastNonzeroMagnitude, scope)
    return try scope.emitter.unary(UnaryFunction(.log), shifted)
  }

  /// `1 / sqrt(x + epsilon)`.
  private static let rsqrt = MILMapper("rsqrt") { operation, scope in
    let x = try operation.value("x", scope)
    let epsilon = try operation.number("epsilon", scope) ?? 1e-12
    return try scope.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), x)
  }
}

extension MILOperation {
  /// Returns `x + epsilon`; an epsilon below the smallest normal float32 is ignored.
  fileprivate func shifted(_ x: ValueID, standard: Float, _ scope: MILScope) throws -> ValueID {
    let epsilon = try number("epsilon", scope) ?? standard
    guard abs(epsilon) >= .leastNormalMagnitude else { return x }
    return try scope.emitter.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "shifted")
  }
}
