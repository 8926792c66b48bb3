import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let pooling = LayerMapper(Layers.pooling) { c in
    typealias Fields = LayerSchema.PoolingLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let type = try c.integer(Fields.type)
    if try c.flag(Fields.globalPooling) {
      let function: Reduce.Function? =
        switch type {
        case Fields.PoolingType.max: .maximum
        case Fields.PoolingType.average: .mean
        case Fields.PoolingType.l2: .l2
        default: nil
        }
      guard let function else { throw c.emitter.invalid("pooling type \(type) is not known") }
      let op = Reduce(function, axes: [2, 3], keepsDimensions: true)
      return c.fromPlanes(try c.emitter.add(op, planes), x)
    }
    let window = try c.poolingWindow(planes)
    switch type {
    case Fields.PoolingType.max:
      return c.fromPlanes(try c.emitter.add(Pool(.maximum, window: window), planes), x)
    case Fields.PoolingType.average:
      let excludes = try c.flag(Fields.avgPoolExcludePadding)
      let op = Pool(excludes ? .average : .averageIncludingPadding, window: window)
      return c.fromPlanes(try c.emitter.add(op, planes), x)
    case Fields.PoolingType.l2:
      return c.fromPlanes(try c.rootOfSquares(planes, window), x)
    default: throw c.emitter.invalid("pooling type \(type) is not known")
    }
  }
}

extension LayerContext {
  fileprivate func poolingWindow(_ planes: ValueID) throws -> Window {
    typealias Fields = LayerSchema.PoolingLayerParams
    let padding: SpatialPadding
    let roundsUp =
      try choice(among: [Fields.valid, Fields.same, Fields.includeLastPixel])
      == Fields.includeLastPixel
    if roundsUp {
      let amounts = try message(Fields.includeLastPixel)?.integers(Fields.ValidCompletePadding.paddingAmounts) ?? []
      guard amounts.isEmpty || amounts.count == 2 else { throw emitter.invalid("padding \(amounts)") }
      padding = amounts.isEmpty ? .none : .explicit(before: amounts, after: amounts)
    } else {
      padding = try spatialPadding(valid: Fields.valid, same: Fields.same)
    }
    return try window(
      kernel: try pair(Fields.kernelSize, default: 3), strides: try pair(Fields.stride, default: 1),
      dilations: [1, 1], padding: padding, roundsUp: roundsUp, over: planes)
  }

  /// Returns `sqrt(Σx²)` over each window. Padding, and positions of a last window beyond it, count as zeros.
  fileprivate func rootOfSquares(_ planes: ValueID, _ window: Window) throws -> ValueID {
    let shape = emitter.shape(planes)
    var exact = window
    exact.roundsUp = false
    do {
      for (axis, size) in try window.outputSizes(Array(shape.dimensions.dropFirst(2))).enumerated() {
        let needed = (size - 1) * window.strides[axis] + window.kernel[axis]
        exact.after[axis] = max(0, needed - shape[2 + axis] - window.before[axis])
      }
    } catch { throw emitter.invalid(error.description) }
    return try emitter.lengthPool(planes, exact, order: 2)
  }
}
