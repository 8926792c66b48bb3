import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Layers that change the shape of a tensor.
  static let shapes: [LayerMapper] = [
    transpose, squeeze, expandDims, flattenTo2D, reshapeLike, reshapeDynamic, rankPreservingReshape, getShape,
    broadcast(Layers.broadcastToLike) { c in try c.raw(1).shape.dimensions },
    broadcast(Layers.broadcastToDynamic, valueDependent: [1]) { c in try c.knownIntegers(1) },
    broadcast(Layers.broadcastToStatic) { c in try c.integers(LayerSchema.BroadcastToStaticLayerParams.targetShape) },
    fill(Layers.fillLike, readsOnlyShapes: true) { c in try c.raw(0).shape.dimensions },
    fill(Layers.fillDynamic, valueDependent: [0]) { c in try c.knownIntegers(0) },
    fill(Layers.fillStatic, value: LayerSchema.FillStaticLayerParams.value) { c in
      try c.integers(LayerSchema.FillStaticLayerParams.targetShape)
    },
    rangeStatic, rangeDynamic, loadConstantND, copy,
  ]

  private static let transpose = LayerMapper(Layers.transpose) { c in
    let axes = try c.integers(LayerSchema.TransposeLayerParams.axes)
    let x = try c.raw(0)
    // An image may have a batch axis that the layer does not know of.
    let isLonger = !axes.isEmpty && axes.count < x.shape.rank
    let isOne = x.shape.dimensions.dropLast(axes.count).allSatisfy { $0 == 1 }
    let shape = isLonger && isOne ? Shape(Array(x.shape.dimensions.suffix(axes.count))) : x.shape
    return c.ranked(try c.emitter.transpose(try c.view(x, shape), axes))
  }

  private static let squeeze = LayerMapper(Layers.squeeze) { c in
    typealias Fields = LayerSchema.SqueezeLayerParams
    let all = try c.flag(Fields.squeezeAll)
    let axes = try c.integers(Fields.axes)
    let value = try c.rawLogical(0)
    return c.ranked(try c.emitter.squeeze(value, all ? nil : axes))
  }

  private static let expandDims = LayerMapper(Layers.expandDims) { c in
    let axes = try c.integers(LayerSchema.ExpandDimsLayerParams.axes)
    return c.ranked(try c.emitter.expandDimensions(try c.rawLogical(0), at: axes))
  }

  private static let flattenTo2D = LayerMapper(Layers.flattenTo2D) { c in
    let x = try c.raw(0)
    let named = try c.integer(LayerSchema.FlattenTo2DLayerParams.axis)
    let axis = named == x.shape.rank ? named : try c.emitter.axis(named, of: try c.logical(x))
    let sizes = [x.shape.dimensions[..<axis].reduce(1, *), x.shape.dimensions[axis...].reduce(1, *)]
    return c.ranked(try c.view(x, Shape(sizes)))
  }

  private static let reshapeLike = LayerMapper(Layers.reshapeLike) { c in
    let target = try c.raw(1).shape.dimensions
    return try c.reshape(try c.raw(0), target)
  }

  private static let reshapeDynamic = LayerMapper(Layers.reshapeDynamic, valueDependent: [1]) { c in
    let target = try c.knownIntegers(1)
    return try c.reshape(try c.raw(0), target)
  }

  private static let rankPreservingReshape = LayerMapper(Layers.rankPreservingReshape) { c in
    let target = try c.integers(LayerSchema.RankPreservingReshapeLayerParams.targetShape)
    return try c.reshape(try c.raw(0), target, zeros: .kept)
  }

  private static let getShape = LayerMapper(Layers.getShape, readsOnlyShapes: true) { c in
    let sizes = try c.raw(0).shape.dimensions
    return Blob(c.emitter.constant(integers: sizes, .int32), [sizes.count])
  }

  private static func broadcast(
    _ number: Int, valueDependent: Set<Int> = [], _ target: @escaping @Sendable (LayerContext) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent) { c in
      let x = try c.raw(0)
      let wanted = Shape(try target(c))
      guard wanted.isAddressable, let shape = x.shape.broadcast(with: wanted), shape.isAddressable else {
        throw c.emitter.invalid("\(x.shape) does not broadcast to \(wanted)")
      }
      return Blob(try c.emitter.add(Expand(shape), try c.logical(x)), shape)
    }
  }

  private static func fill(
    _ number: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false,
    value: Int = LayerSchema.FillLikeLayerParams.value,
    _ target: @escaping @Sendable (LayerContext) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent, readsOnlyShapes: readsOnlyShapes) { c in
      let shape = Shape(try target(c))
      guard shape.isAddressable, shape.rank <= Emitter.rankLimit else { throw c.emitter.invalid("fills \(shape)") }
      let value = c.scalar(try c.number(value), step: "value")
      return c.ranked(try c.emitter.add(Expand(shape), value))
    }
  }

  private static let rangeStatic = LayerMapper(Layers.rangeStatic) { c in
    typealias Fields = LayerSchema.RangeStaticLayerParams
    return try c.range(
      from: Double(try c.number(Fields.startValue)), to: Double(try c.number(Fields.endValue)),
      by: Double(try c.number(Fields.stepSizeValue)))
  }

  /// Returns a range of numbers. The inputs are the end, the start and the step; omitted ones are parameters.
  private static let rangeDynamic = LayerMapper(Layers.rangeDynamic, valueDependent: [0, 1, 2]) { c in
    typealias Fields = LayerSchema.RangeDynamicLayerParams
    func number(_ input: Int, _ field: Int) throws -> Double {
      if c.inputs.count > input { return try c.known(input).first ?? 0 }
      return Double(try c.number(field))
    }
    guard let end = try c.known(0).first else { throw c.emitter.invalid("its end is empty") }
    return try c.range(from: try number(1, Fields.startValue), to: end, by: try number(2, Fields.stepSizeValue))
  }

  private static let loadConstantND = LayerMapper(Layers.loadConstantND) { c in
    typealias Fields = LayerSchema.LoadConstantNDLayerParams
    let shape = Shape(try c.integers(Fields.shape, limit: Emitter.rankLimit))
    let weight = try c.weights(Fields.data).weight(shape)
    return c.ranked(c.emitter.constant(weight))
  }

  private static let copy = LayerMapper(Layers.copy) { c in try c.raw(0) }
}

extension LayerContext {
  fileprivate func range(from start: Double, to end: Double, by step: Double) throws -> Blob {
    let bounds = [start, end, step].map { Tensor([Float($0)], []) }
    return ranked(try emitter.range(from: bounds[0], to: bounds[1], by: bounds[2]))
  }
}
