import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Activations with parameters.
  static let activations: [ONNXMapper] =
    [celu, clip, gelu, mish, prelu, shrink, swiGLU, swish, thresholdedRelu]
    + [
      ("Elu", .elu, [("alpha", 1)]), ("HardSigmoid", .hardSigmoid, [("alpha", 0.2), ("beta", 0.5)]),
      ("LeakyRelu", .leakyRelu, [("alpha", 0.01)]),
      ("Selu", .selu, [("alpha", 1.6732632), ("gamma", 1.050701)]),
    ].map { (name: String, kind: UnaryFunction.Kind, parameters: [(name: String, standard: Float)]) in
      ONNXMapper(name) { c in
        let x = try c.input(0)
        let numbers = parameters.map { c.float($0.name, default: $0.standard) }
        return [try c.emitter.unary(UnaryFunction(kind, a: numbers[0], b: numbers.count > 1 ? numbers[1] : 0), x)]
      }
    }

  private static let gelu = ONNXMapper("Gelu") { c in
    let x = try c.input(0)
    switch c.text("approximate", default: "none") {
    case "none": return [try c.emitter.unary(UnaryFunction(.gelu), x)]
    case "tanh": return [try c.emitter.unary(UnaryFunction(.geluTanh), x)]
    case let other: throw c.unsupported("approximation '\(other)' is not known")
    }
  }

  /// `x · sigmoid(α x)`.
  private static let swish = ONNXMapper("Swish") { c in
    [try c.emitter.swish(try c.input(0), alpha: c.float("alpha", default: 1))]
  }

  /// `swish(a) · b`.
  private static let swiGLU = ONNXMapper("SwiGLU") { c in
    let (a, b) = (try c.input(0), try c.input(1))
    let gate = try c.emitter.swish(a, alpha: c.float("alpha", default: 1), step: "gate")
    return [try c.emitter.binary(.multiply, gate, b)]
  }

  /// `x + bias` below `-λ`, `x - bias` above `λ`, 0 between them.
  private static let shrink = ONNXMapper("Shrink") { c in
    let given = c.emitter.scalar(try c.input(0))
    // The bounds may lie between two integers.
    let scalar = given.isFloatingPoint ? given : given.blended
    let x = try c.emitter.cast(try c.input(0), to: scalar, step: "real")
    let (bias, limit) = (Double(c.float("bias", default: 0)), Double(c.float("lambd", default: 0.5)))
    func side(_ function: Compare.Function, _ sign: Double, _ name: String) throws -> (ValueID, ValueID) {
      let bound = c.emitter.constant(sign * limit, scalar, step: "\(name)_limit")
      let outside = try c.emitter.add(Compare(function), x, bound, step: "is_\(name)")
      let moved = try c.emitter.binary(
        .subtract, x, c.emitter.constant(sign * bias, scalar, step: "\(name)_bias"), step: name)
      return (outside, moved)
    }
    let (isBelow, lower) = try side(.less, -1, "below")
    let (isAbove, upper) = try side(.greater, 1, "above")
    let zero = c.emitter.constant(0, scalar, step: "zero")
    let inner = try c.emitter.add(Select(), isAbove, upper, zero, step: "upper")
    let result = try c.emitter.add(Select(), isBelow, lower, inner, step: given == scalar ? nil : "shrunk")
    return [given == scalar ? result : try c.emitter.cast(result, to: given)]
  }

  /// Before operator set 7 a vector has a slope for each channel.
  private static let prelu = ONNXMapper("PRelu") { c in
    let (x, slope) = (try c.input(0), try c.input(1))
    let (rank, shape) = (c.emitter.shape(x).rank, c.emitter.shape(slope))
    guard c.opset < 7, shape.rank == 1, shape.count > 1, rank > 2 else {
      return [try c.emitter.prelu(x, slope: slope)]
    }
    return [try c.emitter.prelu(x, slope: try c.emitter.channels(slope, of: x, step: "slopes"))]
  }

  /// `max(0, x) + min(0, α · (e^(x/α) - 1))`, an ELU of `x/α` scaled by `α`.
  private static let celu = ONNXMapper("Celu") { c in
    let x = try c.input(0)
    let alpha = c.float("alpha", default: 1)
    if alpha == 1 { return [try c.emitter.unary(UnaryFunction(.elu, a: 1), x)] }
    let scaled = try c.emitter.unary(UnaryFunction(.affine, a: 1 / alpha), x, step: "scaled")
    let elu = try c.emitter.unary(UnaryFunction(.elu, a: 1), scaled, step: "elu")
    return [try c.emitter.unary(UnaryFunction(.affine, a: alpha), elu)]
  }

  /// `x · tanh(softplus(x))`.
  private static let mish = ONNXMapper("Mish") { c in
    let x = try c.input(0)
    let softplus = try c.emitter.unary(UnaryFunction(.softplus), x, step: "softplus")
    let gate = try c.emitter.unary(UnaryFunction(.tanh), softplus, step: "gate")
    return [try c.emitter.binary(.multiply, x, gate)]
  }

  /// `x` where `x > α`, else 0. This equals `x >= next`, where `next` is the float32 after α.
  private static let thresholdedRelu = ONNXMapper("ThresholdedRelu") { c in
    let x = try c.input(0)
    let alpha = c.float("alpha", default: 1)
    let scalar = c.emitter.scalar(x)
    if scalar != .float64, alpha < .infinity {
      return [try c.emitter.unary(UnaryFunction(.thresholdedRelu, a: alpha.nextUp), x)]
    }
    let threshold = c.emitter.constant(Double(alpha), scalar, step: "threshold")
    let passes = try c.emitter.add(Compare(.greater), x, threshold, step: "passes")
    return [try c.emitter.add(Select(), passes, x, c.emitter.constant(0, scalar, step: "zero"))]
  }

  /// Clamps. The bounds are attributes before operator set 11 and inputs from then on.
  private static let clip = ONNXMapper("Clip") { c in
    let x = try c.input(0)
    if c.opset < 11 {
      let lower = c.float("min", default: -.infinity)
      return [try c.emitter.unary(clip(lower, c.float("max", default: .infinity)), x)]
    }
    let (low, high) = (c.optional(1), c.optional(2))
    let lower = low.map { c.emitter.float($0) } ?? -.infinity
    let upper = high.map { c.emitter.float($0) } ?? .infinity
    if let lower, let upper { return [try c.emitter.unary(clip(lower, upper), x)] }
    var result = x
    if let low { result = try c.emitter.binary(.maximum, result, low, step: high == nil ? nil : "raised") }
    if let high { result = try c.emitter.binary(.minimum, result, high) }
    return [result]
  }

  private static func clip(_ lower: Float, _ upper: Float) -> UnaryFunction {
    lower == 0 && upper == .infinity ? .relu : .clip(lower, upper)
  }
}

extension Emitter {
  fileprivate func swish(_ x: ValueID, alpha: Float, step: String? = nil) throws -> ValueID {
    if alpha == 1 { return try unary(.silu, x, step: step) }
    let scaled = try unary(UnaryFunction(.affine, a: alpha), x, step: "scaled")
    return try binary(.multiply, x, unary(.sigmoid, scaled, step: "sigmoid"), step: step)
  }
}
