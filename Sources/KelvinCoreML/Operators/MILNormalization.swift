import KelvinGraph
import KelvinImport

extension MILMapper {
  static let batchNorm = MILMapper("batch_norm") { operation, scope in
    let x = try operation.value("x", scope)
    let mean = try operation.value("mean", scope)
    let variance = try operation.value("variance", scope)
    let type = scope.emitter.type(mean)
    func filled(_ value: Double, _ step: String) -> ValueID {
      let weight = Weight(type) { Tensor(type, rounding: [Double](repeating: value, count: type.count)) }
      return scope.emitter.constant(weight, step: step)
    }
    let gamma = try operation.optional("gamma", scope) ?? filled(1, "gamma")
    let beta = try operation.optional("beta", scope) ?? filled(0, "beta")
    let epsilon = try operation.number("epsilon", scope) ?? 1e-5
    return try scope.emitter.add(BatchNormalization(epsilon: epsilon), x, gamma, beta, mean, variance)
  }

  static let layerNorm = MILMapper("layer_norm") { operation, scope in
    let x = try operation.value("x", scope)
    let named = try operation.integers("axes", scope)
    let axes = try named.map { try scope.emitter.axes($0, of: x) } ?? Array(0..<scope.emitter.shape(x).rank)
    let sizes = axes.map { scope.emitter.shape(x)[$0] }
    var parameters: [ValueID?] = []
    for name in ["gamma", "beta"] {
      let parameter = try operation.optional(name, scope)
      if let parameter, scope.emitter.shape(parameter).dimensions != sizes {
        throw scope.emitter.invalid("\(name): expected \(Shape(sizes)), got \(scope.emitter.type(parameter))")
      }
      parameters.append(parameter)
    }
    let epsilon = try operation.number("epsilon", scope) ?? 1e-5
    let rank = scope.emitter.shape(x).rank
    if let first = axes.first, axes == Array(first..<rank) {
      return try scope.emitter.layerNormalize(
        x, from: first, epsilon: epsilon, scale: parameters[0], shift: parameters[1])
    }
    var raised = [Int](repeating: 1, count: rank)
    for axis in axes { raised[axis] = scope.emitter.shape(x)[axis] }
    let scale = try parameters[0].map { try scope.emitter.reshape($0, Shape(raised), step: "gamma") }
    let shift = try parameters[1].map { try scope.emitter.reshape($0, Shape(raised), step: "beta") }
    return try scope.emitter.normalize(x, axes: axes, epsilon: epsilon, scale: scale, shift: shift)
  }

  static let instanceNorm = MILMapper("instance_norm") { operation, scope in
    let x = try operation.value("x", scope)
    let shape = scope.emitter.shape(x)
    guard shape.rank >= 3 else {
      throw scope.emitter.invalid("expected [N, C, spatial…], got \(scope.emitter.type(x))")
    }
    let gamma = try operation.optional("gamma", scope)
    let beta = try operation.optional("beta", scope)
    let epsilon = try operation.number("epsilon", scope) ?? 1e-5
    return try scope.emitter.groupNormalize(x, groups: shape[1], epsilon: epsilon, scale: gamma, shift: beta)
  }

  static let localResponseNorm = MILMapper("local_response_norm") { operation, scope in
    let x = try operation.value("x", scope)
    let size = try operation.required(try operation.integer("size", scope), "size", scope)
    let alpha = try operation.number("alpha", scope) ?? 1e-4
    let beta = try operation.number("beta", scope) ?? 0.75
    let k = try operation.number("k", scope) ?? 1
    return try scope.emitter.localResponseNormalize(x, size: size, alpha: alpha, beta: beta, k: k)
  }

  /// `x / sqrt(Σx² + epsilon)` over the last three axes, computed in float32 where x is float16.
  static let l2Norm = MILMapper("l2_norm") { operation, scope in
    let x = try operation.value("x", scope)
    let (scalar, rank) = (scope.emitter.scalar(x), scope.emitter.shape(x).rank)
    guard rank >= 3 else { throw scope.emitter.invalid("expected at least 3 dimensions, got \(scope.emitter.type(x))") }
    let epsilon = try operation.number("epsilon", scope) ?? 1e-6
    let wide = try scope.emitter.cast(x, to: scalar == .float16 ? .float32 : scalar, step: "wide")
    let sum = Reduce(.sumOfSquares, axes: Array((rank - 3)..<rank), keepsDimensions: true)
    let squares = try scope.emitter.add(sum, wide, step: "squares")
    let inverse = try scope.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), squares, step: "inverse_length")
    let scaled = try scope.emitter.binary(.multiply, wide, inverse, step: scalar == .float16 ? "scaled" : nil)
    return try scope.emitter.cast(scaled, to: scalar)
  }
}
