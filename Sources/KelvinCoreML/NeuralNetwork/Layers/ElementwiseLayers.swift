import KelvinGraph
import KelvinImport

extension LayerMapper {
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
    LayerMapper(number) { c in
      let inputs = try c.allInputs()
      if inputs.count == 1 {
        guard let alone else { return inputs[0] }
        let alpha = try c.number(LayerSchema.AddLayerParams.alpha)
        return try c.unary(alone(alpha), inputs[0])
      }
      var result = inputs[0]
      for (index, input) in inputs.enumerated().dropFirst() {
        result = try c.binary(function, result, input, step: index == inputs.count - 1 ? nil : "part")
      }
      return result
    }
  }

  private static let average = LayerMapper(Layers.average) { c in
    let inputs = try c.allInputs()
    var sum = inputs[0]
    for input in inputs.dropFirst() { sum = try c.binary(.add, sum, input, step: "sum") }
    return try c.unary(UnaryFunction(.affine, a: 1 / Float(inputs.count)), sum)
  }

  /// `Σ x·y` over channels; for cosine similarity divided by the norms of both.
  private static let dot = LayerMapper(Layers.dot) { c in
    let (x, y) = (try c.input(0), try c.input(1))
    let sum = Reduce(.sum, axes: [1], keepsDimensions: true)
    let planes = (try c.planes(x), try c.planes(y))
    let products = try c.emitter.binary(.multiply, planes.0, planes.1, step: "products")
    guard try c.flag(LayerSchema.DotProductLayerParams.cosineSimilarity) else {
      return c.fromPlanes(try c.emitter.add(sum, products), x)
    }
    let dot = try c.emitter.add(sum, products, step: "dot")
    let length = Reduce(.l2, axes: [1], keepsDimensions: true)
    let lengths = try c.emitter.binary(
      .multiply, try c.emitter.add(length, planes.0, step: "length"),
      try c.emitter.add(length, planes.1, step: "length"), step: "lengths")
    return c.fromPlanes(try c.emitter.binary(.divide, dot, lengths), x)
  }

  /// `scale · x + bias`.
  private static let scale = LayerMapper(Layers.scale) { c in
    typealias Fields = LayerSchema.ScaleLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let hasBias = try c.flag(Fields.hasBias)
    let scale = try c.broadcast(Fields.scale, shape: Fields.shapeScale, step: "scale")
    let scaled = try c.emitter.binary(.multiply, planes, scale, step: hasBias ? "scaled" : nil)
    guard hasBias else { return c.fromPlanes(scaled, x) }
    let bias = try c.broadcast(Fields.bias, shape: Fields.shapeBias, step: "bias")
    return c.fromPlanes(try c.emitter.binary(.add, scaled, bias), x)
  }

  private static let bias = LayerMapper(Layers.bias) { c in
    typealias Fields = LayerSchema.BiasLayerParams
    let x = try c.input(0)
    let bias = try c.broadcast(Fields.bias, shape: Fields.shape, step: "bias")
    return c.fromPlanes(try c.emitter.binary(.add, try c.planes(x), bias), x)
  }

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
  /// Returns numbers of shape `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]` as a constant that broadcasts to planes.
  fileprivate func broadcast(_ field: Int, shape shapeField: Int, step: String) throws -> ValueID {
    let weights = try weights(field)
    var sizes = try integers(shapeField, limit: 8)
    if sizes.isEmpty { sizes = [try weights.count()] }
    if sizes.count == 1 { sizes += [1, 1] }
    return try constant(weights, Shape(sizes), step: step)
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
