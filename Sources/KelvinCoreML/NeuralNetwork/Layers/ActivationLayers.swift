import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Activations, and elementwise functions of specification version 4 and later.
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
    if let function = try layer.parameters.function() { return try scope.unary(function, x) }
    if let parameters = try layer.parameters.message(Fields.pReLU) {
      let slope = try layer.channels(parameters, LayerSchema.ActivationPReLU.alpha, of: x, step: "slope", scope)
      return scope.fromPlanes(try scope.emitter.prelu(try scope.planes(x), slope: slope), x)
    }
    guard let parameters = try layer.parameters.message(Fields.parametricSoftplus) else {
      throw scope.emitter.invalid("its function is not known")
    }
    typealias Softplus = LayerSchema.ActivationParametricSoftplus
    let outer = try layer.channels(parameters, Softplus.alpha, of: x, step: "outer_scale", scope)
    let inner = try layer.channels(parameters, Softplus.beta, of: x, step: "inner_scale", scope)
    let scaled = try scope.emitter.binary(.multiply, try scope.planes(x), inner, step: "scaled")
    let softplus = try scope.emitter.unary(UnaryFunction(.softplus), scaled, step: "softplus")
    return scope.fromPlanes(try scope.emitter.binary(.multiply, softplus, outer), x)
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

  /// `min(x, beta)` where `x >= 0`, else `min(alpha · x, beta)`.
  private static let clampedReLU = LayerMapper(Layers.clampedReLU) { layer, scope in
    typealias Fields = LayerSchema.ClampedReLULayerParams
    let alpha = try layer.parameters.number(Fields.alpha) ?? 0
    let beta = try layer.parameters.number(Fields.beta) ?? 0
    let leaky = try scope.unary(UnaryFunction(.leakyRelu, a: alpha), try layer.input(0, scope), step: "leaky")
    return try scope.unary(.clip(-.infinity, beta), leaky)
  }
}

extension LayerParameters {
  /// Returns the elementwise function that an `ActivationParams` message names; nil for one with parameters for each
  /// channel.
  func function() throws -> UnaryFunction? {
    typealias Fields = LayerSchema.ActivationParams
    let kinds: Set<Int> = [
      Fields.linear, Fields.reLU, Fields.leakyReLU, Fields.thresholdedReLU, Fields.pReLU, Fields.tanh,
      Fields.scaledTanh, Fields.sigmoid, Fields.sigmoidHard, Fields.eLU, Fields.softsign, Fields.softplus,
      Fields.parametricSoftplus,
    ]
    guard let kind = try choice(among: kinds), let parameters = try message(kind) else { return nil }
    // All functions have these parameters in fields of the same numbers.
    func alpha() throws -> Float { try parameters.number(LayerSchema.ActivationLinear.alpha) ?? 0 }
    func beta() throws -> Float { try parameters.number(LayerSchema.ActivationLinear.beta) ?? 0 }
    switch kind {
    case Fields.linear: return UnaryFunction(.affine, a: try alpha(), b: try beta())
    case Fields.reLU: return .relu
    case Fields.leakyReLU: return UnaryFunction(.leakyRelu, a: try alpha())
    case Fields.thresholdedReLU: return UnaryFunction(.thresholdedRelu, a: try alpha())
    case Fields.tanh: return UnaryFunction(.tanh)
    case Fields.scaledTanh: return UnaryFunction(.scaledTanh, a: try alpha(), b: try beta())
    case Fields.sigmoid: return .sigmoid
    case Fields.sigmoidHard: return UnaryFunction(.hardSigmoid, a: try alpha(), b: try beta())
    case Fields.eLU: return UnaryFunction(.elu, a: try alpha())
    case Fields.softsign: return UnaryFunction(.softsign)
    case Fields.softplus: return UnaryFunction(.softplus)
    default: return nil
    }
  }
}

extension NetworkLayer {
  /// Returns a parameter with one number per channel, or one for all, as a constant that broadcasts to planes.
  fileprivate func channels(
    _ parameters: LayerParameters, _ field: Int, of x: Blob, step: String, _ scope: LayerScope
  ) throws -> ValueID {
    guard let message = try parameters.message(field) else { throw scope.emitter.invalid("\(step) is missing") }
    let weights = LayerWeights(message)
    let channels = try weights.count() == 1 ? 1 : scope.planeShape(x)[1]
    return try scope.constant(weights, channels == 1 ? [1] : [channels, 1, 1], step: step)
  }
}
