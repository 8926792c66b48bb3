import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Elementwise functions of one input, without attributes.
  static let unaryFunctions: [ONNXMapper] = [
    unary("Abs", .abs), unary("Acos", .acos), unary("Acosh", .acosh), unary("Asin", .asin), unary("Asinh", .asinh),
    unary("Atan", .atan), unary("Atanh", .atanh), unary("Ceil", .ceil), unary("Cosh", .cosh), unary("Cos", .cos),
    unary("Erf", .erf), unary("Exp", .exp),
    unary("Floor", .floor), unary("HardSwish", .hardSwish), unary("Log", .log), unary("Neg", .negate),
    unary("Reciprocal", .reciprocal), unary("Relu", .relu), unary("Round", .round), unary("Sigmoid", .sigmoid),
    unary("Sign", .sign), unary("Sin", .sin), unary("Sinh", .sinh), unary("Tan", .tan), unary("Softplus", .softplus),
    unary("Softsign", .softsign),
    unary("Sqrt", .sqrt), unary("Tanh", .tanh),
  ]

  private static func unary(_ name: String, _ kind: UnaryFunction.Kind) -> ONNXMapper {
    ONNXMapper(name) { c in
      let x = try c.input(0)
      return [try c.emitter.unary(UnaryFunction(kind), x)]
    }
  }
}
