import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Sums, products and similar functions of several tensors, or of one tensor and a number.
  static let elementwise: [LayerMapper] =
    [
      folding(Layers.add, .add, alone: { UnaryFunction(.affine, a: 1, b: $0) }),
      folding(Layers.multiply, .multiply, alone: { UnaryFunction(.affine, a: $0) }),
      folding(Layers.max, .maximum), folding(Layers.min, .minimum), average, dot, scale, bias,
    ]
    + [
      (Layers.addBroadcastable, .add), (Layers.subtractBroadcastable, .subtract),
      (Layers.multiplyBroadcastable, .multiply), (Layers.divideBroadcastable, .divide),
      (Layers.powBroadcastable, .power), (Layers.maxBroadcastable, .maximum), (Layers.minBroadcastable, .minimum),
      (Layers.modBroadcastable, .modulo), (Layers.floorDivBroadcastable, .floorDivide),
    ].map { (number: Int, function: Binary.Function) in folding(number, function) }

  /// Returns a mapper for a layer that combines its inputs with a function.
  ///
  /// - Parameter alone: The function that a layer with a single input applies, given the layer's number.
  private static func folding(
    _ number: Int, _ function: Binary.Function, alone: (@Sendable (Float) -> UnaryFunction)? = nil
  ) -> LayerMapper {
    LayerMapper(number) { layer, scope in
      let inputs = try layer.allInputs(scope)
      if inputs.count == 1 {
        guard let alone else { return inputs[0] }
        let alpha = try layer.parameters.number(LayerSchema.AddLayerParams.alpha) ?? 0
        return try scope.unary(alone(alpha), inputs[0])
      }
      var result = inputs[0]
      for (index, input) in inputs.enumerated().dropFirst() {
        result = try scope.binary(function, result, input, step: index == inputs.count - 1 ? nil : "part")
      }
      return result
    }
  }

  private static let average = LayerMapper(Layers.average) { layer, scope in
    let inputs = try layer.allInputs(scope)
    var sum = inputs[0]
    for input in inputs.dropFirst() { sum = try scope.binary(.add, sum, input, step: "sum") }
    return try scope.unary(UnaryFunction(.affine, a: 1 / Float(inputs.count)), sum)
  }

  /// `Σ x·y` over channels; for cosine similarity divided by the norms of both.
  private static let dot = LayerMapper(Layers.dot) { layer, scope in
    let (x, y) = (try layer.input(0, scope), try layer.input(1, scope))
    let sum = Reduce(.sum, axes: [1], keepsDimensions: true)
    let planes = (try scope.planes(x), try scope.planes(y))
    let products = try scope.emitter.binary(.multiply, planes.0, planes.1, step: "products")
    guard try layer.parameters.flag(LayerSchema.DotProductLayerParams.cosineSimilarity) else {
      return scope.fromPlanes(try scope.emitter.add(sum, products), x)
    }
    let dot = try scope.emitter.add(sum, products, step: "dot")
    let length = Reduce(.l2, axes: [1], keepsDimensions: true)
    let lengths = try scope.emitter.binary(
      .multiply, try scope.emitter.add(length, planes.0, step: "length"),
      try scope.emitter.add(length, planes.1, step: "length"), step: "lengths")
    return scope.fromPlanes(try scope.emitter.binary(.divide, dot, lengths), x)
  }

  /// `scale · x + bias`.
  private static let scale = LayerMapper(Layers.scale) { layer, scope in
    typealias Fields = LayerSchema.ScaleLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let hasBias = try layer.parameters.flag(Fields.hasBias)
    let scale = try layer.broadcast(Fields.scale, shape: Fields.shapeScale, step: "scale", scope)
    let scaled = try scope.emitter.binary(.multiply, planes, scale, step: hasBias ? "scaled" : nil)
    guard hasBias else { return scope.fromPlanes(scaled, x) }
    let bias = try layer.broadcast(Fields.bias, shape: Fields.shapeBias, step: "bias", scope)
    return scope.fromPlanes(try scope.emitter.binary(.add, scaled, bias), x)
  }

  private static let bias = LayerMapper(Layers.bias) { layer, scope in
    typealias Fields = LayerSchema.BiasLayerParams
    let x = try layer.input(0, scope)
    let bias = try layer.broadcast(Fields.bias, shape: Fields.shape, step: "bias", scope)
    return scope.fromPlanes(try scope.emitter.binary(.add, try scope.planes(x), bias), x)
  }
}

extension NetworkLayer {
  /// Returns numbers of shape `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]` as a constant that broadcasts to planes.
  fileprivate func broadcast(
    _ field: Int, shape shapeField: Int, step: String, _ scope: LayerScope
  ) throws -> ValueID {
    let weights = try weights(field, scope)
    var sizes = try parameters.integers(shapeField, limit: 8)
    if sizes.isEmpty { sizes = [try weights.count()] }
    if sizes.count == 1 { sizes += [1, 1] }
    return try scope.constant(weights, Shape(sizes), step: step)
  }
}
