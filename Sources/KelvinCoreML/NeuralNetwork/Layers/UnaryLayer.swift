import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Applies a function to `scale · x + shift`.
  static let unary = LayerMapper(NetworkSchema.NeuralNetworkLayer.unary) { layer, scope in
    typealias Fields = LayerSchema.UnaryFunctionLayerParams
    let parameters = layer.parameters
    let scale = try parameters.number(Fields.scale, default: 1)
    let shift = try parameters.number(Fields.shift) ?? 0
    let alpha = try parameters.number(Fields.alpha) ?? 0
    let epsilon = try parameters.number(Fields.epsilon, default: 1e-6)
    let input = try layer.input(0, scope)
    let isMoved = scale != 1 || shift != 0
    let x = isMoved ? try scope.unary(UnaryFunction(.affine, a: scale, b: shift), input, step: "moved") : input
    func raised() throws -> Blob {
      try scope.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "raised")
    }
    switch try parameters.integer(Fields.type) ?? 0 {
    case Fields.Operation.sqrt: return try scope.unary(UnaryFunction(.sqrt), x)
    case Fields.Operation.rsqrt: return try scope.unary(UnaryFunction(.rsqrt, a: epsilon), x)
    case Fields.Operation.inverse: return try scope.unary(UnaryFunction(.reciprocal), raised())
    case Fields.Operation.power:
      if alpha == 2 { return try scope.unary(UnaryFunction(.square), x) }
      let exponent = scope.scalar(alpha, step: "exponent")
      return Blob(try scope.emitter.binary(.power, x.id, exponent), x.shape)
    case Fields.Operation.exp: return try scope.unary(UnaryFunction(.exp), x)
    case Fields.Operation.log:
      // coremltools writes the smallest positive number for no epsilon.
      let isRaised = try parameters.number(Fields.epsilon) ?? 0 >= .leastNormalMagnitude
      return try scope.unary(UnaryFunction(.log), isRaised ? raised() : x)
    case Fields.Operation.abs: return try scope.unary(UnaryFunction(.abs), x)
    case Fields.Operation.threshold: return try scope.unary(.clip(alpha, .infinity), x)
    case let type: throw scope.emitter.invalid("function \(type) is not known")
    }
  }
}
