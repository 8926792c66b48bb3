import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Comparisons, logic and selection. Layers read boolean values as the numbers 1 and 0.
  static let logic: [LayerMapper] =
    [logicalNot, whereBroadcastable]
    + [
      (Layers.equal, Compare.Function.equal, LayerSchema.EqualLayerParams.alpha),
      (Layers.notEqual, .notEqual, LayerSchema.NotEqualLayerParams.alpha),
      (Layers.lessThan, .less, LayerSchema.LessThanLayerParams.alpha),
      (Layers.lessEqual, .lessOrEqual, LayerSchema.LessEqualLayerParams.alpha),
      (Layers.greaterThan, .greater, LayerSchema.GreaterThanLayerParams.alpha),
      (Layers.greaterEqual, .greaterOrEqual, LayerSchema.GreaterEqualLayerParams.alpha),
    ].map { (number: Int, function: Compare.Function, alpha: Int) in comparison(number, function, alpha: alpha) }
    + [
      (Layers.logicalAnd, .logicalAnd), (Layers.logicalOr, .logicalOr), (Layers.logicalXor, .logicalXor),
    ].map { (number: Int, function: Binary.Function) in
      LayerMapper(number) { c in
        let (x, y) = (try c.truth(0), try c.truth(1))
        return try c.binary(function, x, y)
      }
    }

  /// Returns a mapper that compares with a second input, or with a number.
  private static func comparison(_ number: Int, _ function: Compare.Function, alpha: Int) -> LayerMapper {
    LayerMapper(number) { c in
      let x = try c.input(0)
      if c.inputs.count == 1 {
        let number = c.scalar(try c.number(alpha), step: "number")
        return Blob(try c.emitter.add(Compare(function), x.id, number), x.shape)
      }
      let (left, right, shape) = try c.aligned(x, try c.input(1))
      return Blob(try c.emitter.add(Compare(function), left, right), shape)
    }
  }

  private static let logicalNot = LayerMapper(Layers.logicalNot) { c in
    try c.unary(UnaryFunction(.logicalNot), try c.truth(0))
  }

  /// Selects the second input where the first is true, else the third.
  private static let whereBroadcastable = LayerMapper(Layers.whereBroadcastable) { c in
    let condition = try c.truth(0)
    let (x, y) = (try c.input(1), try c.input(2))
    let result = try c.emitter.add(Select(), try c.logical(condition), try c.logical(x), try c.logical(y))
    return Blob(result, c.emitter.shape(result))
  }
}

extension LayerContext {
  /// Returns an input as booleans: every nonzero number is true.
  fileprivate func truth(_ index: Int) throws -> Blob {
    let blob = try raw(index)
    if emitter.scalar(blob.id) == .bool { return blob }
    let x = try convert(blob, to: .float32)
    let zero = scalar(0, step: "zero")
    return Blob(try emitter.add(Compare(.notEqual), x.id, zero, step: "truth"), blob.shape)
  }
}
