import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Normalizations.
  static let normalizations: [MILMapper] = [batchNorm, layerNorm, instanceNorm, localResponseNorm, l2Norm]

  private static let batchNorm = MILMapper("batch_norm") { c in
    let (x, mean, variance) = (try c.x, try c.value("mean"), try c.value("variance"))
    let type = c.emitter.type(mean)
    func filled(_ value: Double, _ step: String) -> ValueID {
      let weight = Weight(type) { Tensor(type, rounding: [Double](repeating: value, count: type.count)) }
      return c.emitter.constant(weight, step: step)
    }
    let gamma = try c.optional("gamma") ?? filled(1, "gamma")
    let beta = try c.optional("beta") ?? filled(0, "beta")
    let epsilon = try c.number("epsilon") ?? 1e-5
    return try c.emitter.add(BatchNormalization(epsilon: epsilon), x, gamma, beta, mean, variance)
  }

  private static let layerNorm = MILMapper("layer_norm") { c in
    let x = try c.x
    let named = try c.integers("axes")
    let axes = try named.map { try c.emitter.axes($0, of: x) } ?? Array(0..<c.emitter.shape(x).rank)
    let sizes = axes.map { c.emitter.shape(x)[$0] }
    var parameters: [ValueID?] = []
    for name in ["gamma", "beta"] {
      let parameter = try c.optional(name)
      if let parameter, c.emitter.shape(parameter).dimensions != sizes {
        throw c.emitter.invalid("\(name): expected \(Shape(sizes)), got \(c.emitter.type(parameter))")
      }
      parameters.append(parameter)
    }
    let epsilon = try c.number("epsilon") ?? 1e-5
    let rank = c.emitter.shape(x).rank
    if let first = axes.first, axes == Array(first..<rank) {
      return try c.emitter.layerNormalize(x, from: first, epsilon: epsilon, scale: parameters[0], shift: parameters[1])
    }
    var raised = [Int](repeating: 1, count: rank)
    for axis in axes { raised[axis] = c.emitter.shape(x)[axis] }
    let scale = try parameters[0].map { try c.emitter.reshape($0, Shape(raised), step: "gamma") }
    let shift = try parameters[1].map { try c.emitter.reshape($0, Shape(raised), step: "beta") }
    return try c.emitter.normalize(x, axes: axes, epsilon: epsilon, scale: scale, shift: shift)
  }

  private static let instanceNorm = MILMapper("instance_norm") { c in
    let x = try c.x
    let shape = c.emitter.shape(x)
    guard shape.rank >= 3 else {
      throw c.emitter.invalid("expected [N, C, spatial…], got \(c.emitter.type(x))")
    }
    let gamma = try c.optional("gamma")
    let beta = try c.optional("beta")
    let epsilon = try c.number("epsilon") ?? 1e-5
    return try c.emitter.groupNormalize(x, groups: shape[1], epsilon: epsilon, scale: gamma, shift: beta)
  }

  private static let localResponseNorm = MILMapper("local_response_norm") { c in
    let x = try c.x
    let size = try c.required("size", c.integer)
    let alpha = try c.number("alpha") ?? 1e-4
    let beta = try c.number("beta") ?? 0.75
    let k = try c.number("k") ?? 1
    return try c.emitter.localResponseNormalize(x, size: size, alpha: alpha, beta: beta, k: k)
  }

  /// `x / sqrt(Σx² + epsilon)` over the last three axes, computed in float32 where x is float16.
  private static let l2Norm = MILMapper("l2_norm") { c in
    let x = try c.x
    let (scalar, rank) = (c.emitter.scalar(x), c.emitter.shape(x).rank)
    guard rank >= 3 else { throw c.emitter.invalid("expected at least 3 dimensions, got \(c.emitter.type(x))") }
    let epsilon = try c.number("epsilon") ?? 1e-6
    let wide = try c.emitter.cast(x, to: scalar == .float16 ? .float32 : scalar, step: "wide")
    let sum = Reduce(.sumOfSquares, axes: Array((rank - 3)..<rank), keepsDimensions: true)
    let squares = try c.emitter.add(sum, wide, step: "squares")
    let inverse = try c.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), squares, step: "inverse_length")
    let scaled = try c.emitter.binary(.multiply, wide, inverse, step: scalar == .float16 ? "scaled" : nil)
    return try c.emitter.cast(scaled, to: scalar)
  }
}
