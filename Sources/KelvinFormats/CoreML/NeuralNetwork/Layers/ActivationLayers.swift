import KelvinGraph

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Activations, and functions of one element of specification version 4 and later.
  static let activations: [LayerMapper] =
    [activation, gelu, clip, clampedReLU]
    + [
      (Layers.erf, .erf), (Layers.ceil, .ceil), (Layers.floor, .floor), (Layers.round, .round), (Layers.sign, .sign),
      (Layers.sin, .sin), (Layers.cos, .cos), (Layers.tan, .tan), (Layers.asin, .asin), (Layers.acos, .acos),
      (Layers.atan, .atan), (Layers.sinh, .sinh), (Layers.cosh, .cosh), (Layers.tanh, .tanh), (Layers.asinh, .asinh),
      (Layers.acosh, .acosh), (Layers.atanh, .atanh), (Layers.exp2, .exp2),
    ].map { (number: Int, kind: UnaryFunction.Kind) in
      LayerMapper(number) { layer, scope in try scope.unary(UnaryFunction(kind), try layer.input(0, scope)) }
    }

  private static let activation = LayerMapper(Layers.activation) { layer, scope in
    typealias Fields = LayerSchema.ActivationParams
    let x = try layer.input(0, scope)
    let kinds: Set<Int> = [
      Fields.linear, Fields.reLU, Fields.leakyReLU, Fields.thresholdedReLU, Fields.pReLU, Fields.tanh,
      Fields.scaledTanh, Fields.sigmoid, Fields.sigmoidHard, Fields.eLU, Fields.softsign, Fields.softplus,
      Fields.parametricSoftplus,
    ]
    guard let kind = try layer.parameters.choice(among: kinds), let parameters = try layer.parameters.message(kind)
    else { throw scope.emitter.invalid("its function is not known") }
    // Every function has its parameters in the same fields.
    func alpha() throws -> Float { try parameters.number(LayerSchema.ActivationLinear.alpha) ?? 0 }
    func beta() throws -> Float { try parameters.number(LayerSchema.ActivationLinear.beta) ?? 0 }
    switch kind {
    case Fields.linear: return try scope.unary(UnaryFunction(.affine, a: try alpha(), b: try beta()), x)
    case Fields.reLU: return try scope.unary(.relu, x)
    case Fields.leakyReLU: return try scope.unary(UnaryFunction(.leakyRelu, a: try alpha()), x)
    case Fields.thresholdedReLU: return try scope.unary(UnaryFunction(.thresholdedRelu, a: try alpha()), x)
    case Fields.tanh: return try scope.unary(UnaryFunction(.tanh), x)
    case Fields.sigmoid: return try scope.unary(.sigmoid, x)
    case Fields.sigmoidHard: return try scope.unary(UnaryFunction(.hardSigmoid, a: try alpha(), b: try beta()), x)
    case Fields.eLU: return try scope.unary(UnaryFunction(.elu, a: try alpha()), x)
    case Fields.softsign: return try scope.unary(UnaryFunction(.softsign), x)
    case Fields.softplus: return try scope.unary(UnaryFunction(.softplus), x)
    case Fields.scaledTanh:
      let inner = try scope.unary(UnaryFunction(.affine, a: try beta()), x, step: "scaled")
      let tanh = try scope.unary(UnaryFunction(.tanh), inner, step: "tanh")
      return try scope.unary(UnaryFunction(.affine, a: try alpha()), tanh)
    case Fields.pReLU:
      let slope = try layer.channels(parameters, LayerSchema.ActivationPReLU.alpha, of: x, step: "slope", scope)
      return scope.fromPlanes(try scope.emitter.prelu(try scope.planes(x), slope: slope), x)
    default:
      typealias Softplus = LayerSchema.ActivationParametricSoftplus
      let outer = try layer.channels(parameters, Softplus.alpha, of: x, step: "outer_scale", scope)
      let inner = try layer.channels(parameters, Softplus.beta, of: x, step: "inner_scale", scope)
      let scaled = try scope.emitter.binary(.multiply, try scope.planes(x), inner, step: "scaled")
      let softplus = try scope.emitter.unary(UnaryFunction(.softplus), scaled, step: "softplus")
      return scope.fromPlanes(try scope.emitter.binary(.multiply, softplus, outer), x)
    }
  }

  private static let gelu = LayerMapper(Layers.gelu) { layer, scope in
    typealias Mode = LayerSchema.GeluLayerParams.GeluMode
    let x = try layer.input(0, scope)
    switch try layer.parameters.integer(LayerSchema.GeluLayerParams.mode) ?? 0 {
    case Mode.exact: return try scope.unary(UnaryFunction(.gelu), x)
    case Mode.tanhApproximation: return try scope.unary(UnaryFunction(.geluTanh), x)
    case Mode.sigmoidApproximation:
      let scaled = try scope.unary(UnaryFunction(.affine, a: 1.702), x, step: "scaled")
      let gate = try scope.unary(.sigmoid, scaled, step: "gate")
      return try scope.binary(.multiply, x, gate)
    case let mode: throw scope.emitter.invalid("mode \(mode) is not known")
    }
  }

  private static let clip = LayerMapper(Layers.clip) { layer, scope in
    typealias Fields = LayerSchema.ClipLayerParams
    let lower = try layer.parameters.number(Fields.minVal) ?? 0
    let upper = try layer.parameters.number(Fields.maxVal) ?? 0
    return try scope.unary(.clip(lower, upper), try layer.input(0, scope))
  }

  /// `min(x, beta)` where `x >= 0`, else `min(alpha · x, beta)`
  private static let clampedReLU = LayerMapper(Layers.clampedReLU) { layer, scope in
    typealias Fields = LayerSchema.ClampedReLULayerParams
    let alpha = try layer.parameters.number(Fields.alpha) ?? 0
    let beta = try layer.parameters.number(Fields.beta) ?? 0
    let leaky = try scope.unary(UnaryFunction(.leakyRelu, a: alpha), try layer.input(0, scope), step: "leaky")
    return try scope.unary(.clip(-.infinity, beta), leaky)
  }
}

extension NetworkLayer {
  /// A parameter with one number for each channel, or one for all, as a constant that broadcasts to planes.
  fileprivate func channels(
    _ parameters: LayerParameters, _ field: Int, of x: Blob, step: String, _ scope: LayerScope
  ) throws -> ValueID {
    guard let message = try parameters.message(field) else { throw scope.emitter.invalid("\(step) is missing") }
    let weights = LayerWeights(message)
    let channels = try weights.count() == 1 ? 1 : scope.planeShape(x)[1]
    return try scope.constant(weights, channels == 1 ? [1] : [channels, 1, 1], step: step)
  }
}
