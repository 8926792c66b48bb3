import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Layers that change the shape of a tensor.
  static let shapes: [LayerMapper] = [
    transpose, squeeze, expandDims, flattenTo2D, reshapeLike, reshapeDynamic, rankPreservingReshape, getShape,
    broadcast(Layers.broadcastToLike) { layer, scope in try layer.raw(1, scope).shape.dimensions },
    broadcast(Layers.broadcastToDynamic, valueDependent: [1]) { layer, scope in try layer.knownIntegers(1, scope) },
    broadcast(Layers.broadcastToStatic) { layer, _ in
      try layer.parameters.integers(LayerSchema.BroadcastToStaticLayerParams.targetShape)
    },
    fill(Layers.fillLike, readsOnlyShapes: true) { layer, scope in try layer.raw(0, scope).shape.dimensions },
    fill(Layers.fillDynamic, valueDependent: [0]) { layer, scope in try layer.knownIntegers(0, scope) },
    fill(Layers.fillStatic, value: LayerSchema.FillStaticLayerParams.value) { layer, _ in
      try layer.parameters.integers(LayerSchema.FillStaticLayerParams.targetShape)
    },
    rangeStatic, rangeDynamic, loadConstantND, copy,
  ]

  private static let transpose = LayerMapper(Layers.transpose) { layer, scope in
    let axes = try layer.parameters.integers(LayerSchema.TransposeLayerParams.axes)
    let x = try layer.raw(0, scope)
    // An image may have a batch axis that the layer does not know of.
    let isLonger = !axes.isEmpty && axes.count < x.shape.rank
    let isOne = x.shape.dimensions.dropLast(axes.count).allSatisfy { $0 == 1 }
    let value =
      isLonger && isOne
      ? try scope.view(x, Shape(Array(x.shape.dimensions.suffix(axes.count)))) : try scope.logical(x)
    return scope.ranked(try scope.emitter.transpose(value, axes))
  }

  private static let squeeze = LayerMapper(Layers.squeeze) { layer, scope in
    typealias Fields = LayerSchema.SqueezeLayerParams
    let all = try layer.parameters.flag(Fields.squeezeAll)
    let axes = try layer.parameters.integers(Fields.axes)
    let value = try scope.logical(try layer.raw(0, scope))
    return scope.ranked(try scope.emitter.squeeze(value, all ? nil : axes))
  }

  private static let expandDims = LayerMapper(Layers.expandDims) { layer, scope in
    let axes = try layer.parameters.integers(LayerSchema.ExpandDimsLayerParams.axes)
    return scope.ranked(try scope.emitter.expandDimensions(try scope.logical(try layer.raw(0, scope)), at: axes))
  }

  private static let flattenTo2D = LayerMapper(Layers.flattenTo2D) { layer, scope in
    let x = try layer.raw(0, scope)
    let named = try layer.parameters.integer(LayerSchema.FlattenTo2DLayerParams.axis) ?? 0
    let axis = named == x.shape.rank ? named : try scope.emitter.axis(named, of: try scope.logical(x))
    let sizes = [x.shape.dimensions[..<axis].reduce(1, *), x.shape.dimensions[axis...].reduce(1, *)]
    return scope.ranked(try scope.view(x, Shape(sizes)))
  }

  private static let reshapeLike = LayerMapper(Layers.reshapeLike) { layer, scope in
    let target = try layer.raw(1, scope).shape
    return try scope.reshape(try layer.raw(0, scope), target.dimensions)
  }

  private static let reshapeDynamic = LayerMapper(Layers.reshapeDynamic, valueDependent: [1]) { layer, scope in
    let target = try layer.knownIntegers(1, scope)
    return try scope.reshape(try layer.raw(0, scope), target)
  }

  private static let rankPreservingReshape = LayerMapper(Layers.rankPreservingReshape) { layer, scope in
    let target = try layer.parameters.integers(LayerSchema.RankPreservingReshapeLayerParams.targetShape)
    return try scope.reshape(try layer.raw(0, scope), target, zeros: .kept)
  }

  private static let getShape = LayerMapper(Layers.getShape, readsOnlyShapes: true) { layer, scope in
    let sizes = try layer.raw(0, scope).shape.dimensions
    return Blob(scope.emitter.constant(integers: sizes, .int32), [sizes.count])
  }

  private static func broadcast(
    _ number: Int, valueDependent: Set<Int> = [],
    _ target: @escaping @Sendable (NetworkLayer, LayerScope) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent) { layer, scope in
      let x = try layer.raw(0, scope)
      let wanted = Shape(try target(layer, scope))
      guard wanted.isAddressable, let shape = x.shape.broadcast(with: wanted), shape.isAddressable else {
        throw scope.emitter.invalid("\(x.shape) does not broadcast to \(wanted)")
      }
      return Blob(try scope.emitter.add(Expand(shape), try scope.logical(x)), shape)
    }
  }

  private static func fill(
    _ number: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false,
    value: Int = LayerSchema.FillLikeLayerParams.value,
    _ target: @escaping @Sendable (NetworkLayer, LayerScope) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent, readsOnlyShapes: readsOnlyShapes) { layer, scope in
      let shape = Shape(try target(layer, scope))
      guard shape.isAddressable, shape.rank <= Emitter.rankLimit else { throw scope.emitter.invalid("fills \(shape)") }
      let value = scope.scalar(try layer.parameters.number(value) ?? 0, step: "value")
      return scope.ranked(try scope.emitter.add(Expand(shape), value))
    }
  }

  private static let rangeStatic = LayerMapper(Layers.rangeStatic) { layer, scope in
    typealias Fields = LayerSchema.RangeStaticLayerParams
    return try scope.range(
      from: Double(try layer.parameters.number(Fields.startValue) ?? 0),
      to: Double(try layer.parameters.number(Fields.endValue) ?? 0),
      by: Double(try layer.parameters.number(Fields.stepSizeValue) ?? 0))
  }

  /// Returns a range of numbers. The inputs are the end, the start and the step; omitted ones are parameters.
  private static let rangeDynamic = LayerMapper(Layers.rangeDynamic, valueDependent: [0, 1, 2]) { layer, scope in
    typealias Fields = LayerSchema.RangeDynamicLayerParams
    func number(_ input: Int, _ field: Int) throws -> Double {
      if layer.inputs.count > input { return try layer.known(input, scope).first ?? 0 }
      return Double(try layer.parameters.number(field) ?? 0)
    }
    guard let end = try layer.known(0, scope).first else { throw scope.emitter.invalid("its end is empty") }
    return try scope.range(from: try number(1, Fields.startValue), to: end, by: try number(2, Fields.stepSizeValue))
  }

  private static let loadConstantND = LayerMapper(Layers.loadConstantND) { layer, scope in
    typealias Fields = LayerSchema.LoadConstantNDLayerParams
    let shape = Shape(try layer.parameters.integers(Fields.shape, limit: Emitter.rankLimit))
    let weight = try layer.weights(Fields.data, scope).weight(shape)
    return scope.ranked(scope.emitter.constant(weight))
  }

  private static let copy = LayerMapper(Layers.copy) { layer, scope in try layer.raw(0, scope) }
}

extension LayerScope {
  fileprivate func range(from start: Double, to end: Double, by step: Double) throws -> Blob {
    let bounds = [start, end, step].map { Tensor([Float($0)], []) }
    return ranked(try emitter.range(from: bounds[0], to: bounds[1], by: bounds[2]))
  }
}
