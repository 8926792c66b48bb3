import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let pooling = LayerMapper(NetworkSchema.NeuralNetworkLayer.pooling) { layer, scope in
    typealias Fields = LayerSchema.PoolingLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let type = try layer.parameters.integer(Fields.type) ?? 0
    if try layer.parameters.flag(Fields.globalPooling) {
      let function: Reduce.Function? =
        switch type {
        case Fields.PoolingType.max: .maximum
        case Fields.PoolingType.average: .mean
        case Fields.PoolingType.l2: .l2
        default: nil
        }
      guard let function else { throw scope.emitter.invalid("pooling type \(type) is not known") }
      let op = Reduce(function, axes: [2, 3], keepsDimensions: true)
      return scope.fromPlanes(try scope.emitter.add(op, planes), x)
    }
    let window = try layer.poolingWindow(planes, scope)
    switch type {
    case Fields.PoolingType.max:
      return scope.fromPlanes(try scope.emitter.add(Pool(.maximum, window: window), planes), x)
    case Fields.PoolingType.average:
      let excludes = try layer.parameters.flag(Fields.avgPoolExcludePadding)
      let op = Pool(excludes ? .average : .averageIncludingPadding, window: window)
      return scope.fromPlanes(try scope.emitter.add(op, planes), x)
    case Fields.PoolingType.l2:
      return scope.fromPlanes(try layer.rootOfSquares(planes, window, scope), x)
    default: throw scope.emitter.invalid("pooling type \(type) is not known")
    }
  }
}

extension NetworkLayer {
  fileprivate func poolingWindow(_ planes: ValueID, _ scope: LayerScope) throws -> Window {
    typealias Fields = LayerSchema.PoolingLayerParams
    let padding: SpatialPadding
    let roundsUp =
      try parameters.choice(among: [Fields.valid, Fields.same, Fields.includeLastPixel])
      == Fields.includeLastPixel
    if roundsUp {
      let amounts =
        try parameters.message(Fields.includeLastPixel)?
        .integers(Fields.ValidCompletePadding.paddingAmounts) ?? []
      guard amounts.isEmpty || amounts.count == 2 else { throw scope.emitter.invalid("padding \(amounts)") }
      padding = amounts.isEmpty ? .none : .explicit(before: amounts, after: amounts)
    } else {
      padding = try spatialPadding(valid: Fields.valid, same: Fields.same, scope)
    }
    return try window(
      kernel: try pair(Fields.kernelSize, default: 3, scope), strides: try pair(Fields.stride, default: 1, scope),
      dilations: [1, 1], padding: padding, roundsUp: roundsUp, over: planes, scope)
  }

  /// Returns `sqrt(Σx²)` over each window. Padding, and positions of a last window beyond it, count as zeros.
  fileprivate func rootOfSquares(_ planes: ValueID, _ window: Window, _ scope: LayerScope) throws -> ValueID {
    let shape = scope.emitter.shape(planes)
    var exact = window
    exact.roundsUp = false
    do {
      for (axis, size) in try window.outputSizes(Array(shape.dimensions.dropFirst(2))).enumerated() {
        let needed = (size - 1) * window.strides[axis] + window.kernel[axis]
        exact.after[axis] = max(0, needed - shape[2 + axis] - window.before[axis])
      }
    } catch { throw scope.emitter.invalid(error.description) }
    return try scope.emitter.lengthPool(planes, exact, order: 2)
  }
}
