import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Applies a function to `scale · x + shift`.
  static let unary = LayerMapper(Layers.unary) { c in
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
