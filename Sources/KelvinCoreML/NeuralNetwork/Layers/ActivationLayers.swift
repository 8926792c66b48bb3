import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Activations, and elementwise functions of specification version 4 and later.
  static let activations: [LayerMapper] =
    [activation, gelu, clip, clampedReLU, unary]
    + [
      (Layers.erf, .erf), (Layers.ceil, .ceil), (Layers.floor, .floor), (Layers.round, .round), (Layers.sign, .sign),
      (Layers.sin, .sin), (Layers.cos, .cos), (Layers.tan, .tan), (Layers.asin, .asin), (Layers.acos, .acos),
      (Layers.atan, .atan), (Layers.sinh, .sinh), (Layers.cosh, .cosh), (Layers.tanh, .tanh), (Layers.asinh, .asinh),
      (Layers.acosh, .acosh), (Layers.atanh, .atanh), (Layers.exp2, .exp2),
    ].map { (number: Int, kind: UnaryFunction.Kind) in
      LayerMapper(number) { c in try c.unary(UnaryFunction(kind), try c.input(0)) }
    }

  private static let activation = LayerMapper(Layers.activation) { c in
    typealias Fields = LayerSchema.ActivationParams
    let x = try c.input(0)
    if let function = try c.parameters.function() { return try c.unary(function, x) }
    if let parameters = try c.message(Fields.pReLU) {
      let slope = try c.channels(parameters, LayerSchema.ActivationPReLU.alpha, of: x, step: "slope")
      return c.fromPlanes(try c.emitter.prelu(try c.planes(x), slope: slope), x)
    }
    guard let parameters = try c.message(Fields.parametricSoftplus) else {
      throw c.emitter.invalid("its function is not known")
    }
    typealias Softplus = LayerSchema.ActivationParametricSoftplus
    let outer = try c.channels(parameters, Softplus.alpha, of: x, step: "outer_scale")
    let inner = try c.channels(parameters, Softplus.beta, of: x, step: "inner_scale")
    let scaled = try c.emitter.binary(.multiply, try c.planes(x), inner, step: "scaled")
    let softplus = try c.emitter.unary(UnaryFunction(.softplus), scaled, step: "softplus")
    return c.fromPlanes(try c.emitter.binary(.multiply, softplus, outer), x)
  }

  private static let gelu = LayerMapper(Layers.gelu) { c in
    typealias Mode = LayerSchema.GeluLayerParams.GeluMode
    let x = try c.input(0)
    switch try c.integer(LayerSchema.GeluLayerParams.mode) {
    case Mode.exact: return try c.unary(UnaryFunction(.gelu), x)
    case Mode.tanhApproximation: return try c.unary(UnaryFunction(.geluTanh), x)
    case Mode.sigmoidApproximation:
      let scaled = try c.unary(UnaryFunction(.affine, a: 1.702), x, step: "scaled")
      let gate = try c.unary(.sigmoid, scaled, step: "gate")
      return try c.binary(.multiply, x, gate)
    case let mode: throw c.emitter.invalid("mode \(mode) is not known")
    }
  }

  private static let clip = LayerMapper(Layers.clip) { c in
    typealias Fields = LayerSchema.ClipLayerParams
    let lower = try c.number(Fields.minVal)
    let upper = try c.number(Fields.maxVal)
    return try c.unary(.clip(lower, upper), try c.input(0))
  }

  /// `min(x, beta)` where `x >= 0`, else `min(alpha · x, beta)`.
  private static let clampedReLU = LayerMapper(Layers.clampedReLU) { c in
    typealias Fields = LayerSchema.ClampedReLULayerParams
    let alpha = try c.number(Fields.alpha)
    let beta = try c.number(Fields.beta)
    let leaky = try c.unary(UnaryFunction(.leakyRelu, a: alpha), try c.input(0), step: "leaky")
    return try c.unary(.clip(-.infinity, beta), leaky)
  }

  /// Applies a function to `scale · x + shift`.
  private static let unary = LayerMapper(Layers.unary) { c in
    typealias Fields = LayerSchema.UnaryFunctionLayerParams
    let scale = try c.number(Fields.scale, default: 1)
    let shift = try c.number(Fields.shift)
    let alpha = try c.number(Fields.alpha)
    let epsilon = try c.number(Fields.epsilon, default: 1e-6)
    let input = try c.input(0)
    let isMoved = scale != 1 || shift != 0
    let x = isMoved ? try c.unary(UnaryFunction(.affine, a: scale, b: shift), input, step: "moved") : input
    func raised() throws -> Blob { try c.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "raised") }
    switch try c.integer(Fields.type) {
    case Fields.Operation.sqrt: return try c.unary(UnaryFunction(.sqrt), x)
    case Fields.Operation.rsqrt: return try c.unary(UnaryFunction(.rsqrt, a: epsilon), x)
    case Fields.Operation.inverse: return try c.unary(UnaryFunction(.reciprocal), raised())
    case Fields.Operation.power:
      if alpha == 2 { return try c.unary(UnaryFunction(.square), x) }
      let exponent = c.scalar(alpha, step: "exponent")
      return Blob(try c.emitter.binary(.power, x.id, exponent), x.shape)
    case Fields.Operation.exp: return try c.unary(UnaryFunction(.exp), x)
    case Fields.Operation.log:
      // coremltools writes the smallest positive number for no epsilon.
      let isRaised = try c.number(Fields.epsilon) >= .leastNormalMagnitude
      return try c.unary(UnaryFunction(.log), isRaised ? raised() : x)
    case Fields.Operation.abs: return try c.unary(UnaryFunction(.abs), x)
    case Fields.Operation.threshold: return try c.unary(.clip(alpha, .infinity), x)
    case let type: throw c.emitter.invalid("function \(type) is not known")
    }
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

extension LayerContext {
  /// Returns a parameter with one number per channel, or one for all, as a constant that broadcasts to planes.
  fileprivate func channels(_ parameters: LayerParameters, _ field: Int, of x: Blob, step: String) throws -> ValueID {
    guard let message = try parameters.message(field) else { throw emitter.invalid("\(step) is missing") }
    let weights = LayerWeights(message)
    let channels = try weights.count() == 1 ? 1 : planeShape(x)[1]
    return try constant(weights, channels == 1 ? [1] : [channels, 1, 1], step: step)
  }
}
