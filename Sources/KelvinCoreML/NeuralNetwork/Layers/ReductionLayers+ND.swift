import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Reductions over any axes; the ten layers have the same parameters.
  static let reductions: [LayerMapper] = [
    (Layers.reduceSum, Reduce.Function.sum), (Layers.reduceMean, .mean), (Layers.reduceMax, .maximum),
    (Layers.reduceMin, .minimum), (Layers.reduceProd, .product), (Layers.reduceL1, .l1), (Layers.reduceL2, .l2),
    (Layers.reduceSumSquare, .sumOfSquares), (Layers.reduceLogSum, .logSum), (Layers.reduceLogSumExp, .logSumExp),
  ].map { (number: Int, function: Reduce.Function) in
    LayerMapper(number) { layer, scope in
      typealias Fields = LayerSchema.ReduceSumLayerParams
      let x = try layer.input(0, scope)
      let value = try scope.logical(x)
      let all = try layer.parameters.flag(Fields.reduceAll)
      let named = try layer.parameters.integers(Fields.axes)
      let axes = all || named.isEmpty ? Array(0..<x.shape.rank) : try scope.emitter.axes(named, of: value)
      let op = Reduce(function, axes: axes, keepsDimensions: try layer.parameters.flag(Fields.keepDims))
      return scope.ranked(try scope.emitter.add(op, value))
    }
  }

  static let argMax = extreme(Layers.argMax, .maximum)
  static let argMin = extreme(Layers.argMin, .minimum)

  private static func extreme(_ number: Int, _ function: ArgReduce.Function) -> LayerMapper {
    LayerMapper(number) { layer, scope in
      typealias Fields = LayerSchema.ArgMaxLayerParams
      let value = try scope.logical(try layer.input(0, scope))
      let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
      let op = ArgReduce(
        function, axis: axis, keepsDimensions: try !layer.parameters.flag(Fields.removeDim), scalar: .int32)
      return scope.ranked(try scope.emitter.add(op, value))
    }
  }

  /// Returns the largest or smallest elements along an axis, and their positions.
  static let topK = LayerMapper(several: Layers.topK, valueDependent: [1]) { layer, scope in
    typealias Fields = LayerSchema.TopKLayerParams
    let value = try scope.logical(try layer.input(0, scope))
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let known = layer.inputs.count > 1 ? try layer.knownIntegers(1, scope).first : nil
    let count = try known ?? layer.parameters.integer(Fields.k) ?? 0
    let op = TopK(
      axis: axis, count: count, takesLargest: try !layer.parameters.flag(Fields.useBottomK), scalar: .int32)
    return try scope.emitter.addAll(op, [value]).map { Blob($0, scope.emitter.shape($0)) }
  }

  static let argSort = LayerMapper(Layers.argSort) { layer, scope in
    typealias Fields = LayerSchema.ArgSortLayerParams
    let value = try scope.logical(try layer.input(0, scope))
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let op = TopK(
      axis: axis, count: scope.emitter.shape(value)[axis],
      takesLargest: try layer.parameters.flag(Fields.descending), scalar: .int32)
    let results = try scope.emitter.addAll(op, [value])
    return Blob(results[1], scope.emitter.shape(results[1]))
  }

  static let cumSum = LayerMapper(Layers.cumSum, valueDependent: [1]) { layer, scope in
    typealias Fields = LayerSchema.CumSumLayerParams
    let x = try layer.input(0, scope)
    let value = try scope.logical(x)
    let known = layer.inputs.count > 1 ? try layer.knownIntegers(1, scope).first : nil
    let axis = try scope.emitter.axis(try known ?? layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let op = CumulativeReduce(
      .sum, axis: axis, isExclusive: try layer.parameters.flag(Fields.excludeFinalSum),
      isReversed: try layer.parameters.flag(Fields.reverse))
    return Blob(try scope.emitter.add(op, value), x.shape)
  }
}

extension LayerScope {
  /// Returns a result with at least one axis: networks have no scalar tensors.
  func ranked(_ id: ValueID) -> Blob {
    let shape = emitter.shape(id)
    return Blob(id, shape.rank == 0 ? [1] : shape)
  }
}
