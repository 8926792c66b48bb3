import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

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
      (Layers.logicalAnd, Binary.Function.logicalAnd), (Layers.logicalOr, .logicalOr), (Layers.logicalXor, .logicalXor),
    ].map { (number: Int, function: Binary.Function) in
      LayerMapper(number) { layer, scope in
        let (x, y) = (try layer.truth(0, scope), try layer.truth(1, scope))
        return try scope.binary(function, x, y)
      }
    }

  /// Returns a mapper that compares with a second input, or with a number.
  private static func comparison(_ number: Int, _ function: Compare.Function, alpha: Int) -> LayerMapper {
    LayerMapper(number) { layer, scope in
      let x = try layer.input(0, scope)
      if layer.inputs.count == 1 {
        let number = scope.scalar(try layer.parameters.number(alpha) ?? 0, step: "number")
        return Blob(try scope.emitter.add(Compare(function), x.id, number), x.shape)
      }
      let (left, right, shape) = try scope.aligned(x, try layer.input(1, scope))
      return Blob(try scope.emitter.add(Compare(function), left, right), shape)
    }
  }

  private static let logicalNot = LayerMapper(Layers.logicalNot) { layer, scope in
    try scope.unary(UnaryFunction(.logicalNot), try layer.truth(0, scope))
  }

  /// Selects the second input where the first is true, else the third.
  private static let whereBroadcastable = LayerMapper(Layers.whereBroadcastable) { layer, scope in
    let condition = try layer.truth(0, scope)
    let (x, y) = (try layer.input(1, scope), try layer.input(2, scope))
    let result = try scope.emitter.add(
      Select(), try scope.logical(condition), try scope.logical(x), try scope.logical(y))
    return Blob(result, scope.emitter.shape(result))
  }
}

extension NetworkLayer {
  /// Returns an input as booleans: every nonzero number is true.
  fileprivate func truth(_ index: Int, _ scope: LayerScope) throws -> Blob {
    let blob = try raw(index, scope)
    if scope.emitter.scalar(blob.id) == .bool { return blob }
    let x = try scope.convert(blob, to: .float32)
    let zero = scope.scalar(0, step: "zero")
    return Blob(try scope.emitter.add(Compare(.notEqual), x.id, zero, step: "truth"), blob.shape)
  }
}
