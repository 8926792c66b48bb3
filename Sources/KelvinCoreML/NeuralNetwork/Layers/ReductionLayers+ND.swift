import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Reductions over any axes; the ten layers have the same parameters.
  static let reductions: [LayerMapper] = [
    (Layers.reduceSum, Reduce.Function.sum), (Layers.reduceMean, .mean), (Layers.reduceMax, .maximum),
    (Layers.reduceMin, .minimum), (Layers.reduceProd, .product), (Layers.reduceL1, .l1), (Layers.reduceL2, .l2),
    (Layers.reduceSumSquare, .sumOfSquares), (Layers.reduceLogSum, .logSum), (Layers.reduceLogSumExp, .logSumExp),
  ].map { (number: Int, function: Reduce.Function) in
    LayerMapper(number) { c in
      typealias Fields = LayerSchema.ReduceSumLayerParams
      let x = try c.input(0)
      let value = try c.logical(x)
      let all = try c.flag(Fields.reduceAll)
      let named = try c.integers(Fields.axes)
      let axes = all || named.isEmpty ? Array(0..<x.shape.rank) : try c.emitter.axes(named, of: value)
      let op = Reduce(function, axes: axes, keepsDimensions: try c.flag(Fields.keepDims))
      return c.ranked(try c.emitter.add(op, value))
    }
  }

  static let argMax = extreme(Layers.argMax, .maximum)
  static let argMin = extreme(Layers.argMin, .minimum)

  private static func extreme(_ number: Int, _ function: ArgReduce.Function) -> LayerMapper {
    LayerMapper(number) { c in
      typealias Fields = LayerSchema.ArgMaxLayerParams
      let value = try c.logical(0)
      let axis = try c.axis(Fields.axis, of: value)
      let op = ArgReduce(function, axis: axis, keepsDimensions: try !c.flag(Fields.removeDim), scalar: .int32)
      return c.ranked(try c.emitter.add(op, value))
    }
  }

  /// Returns the largest or smallest elements along an axis, and their positions.
  static let topK = LayerMapper(several: Layers.topK, valueDependent: [1]) { c in
    typealias Fields = LayerSchema.TopKLayerParams
    let value = try c.logical(0)
    let axis = try c.axis(Fields.axis, of: value)
    let known = c.inputs.count > 1 ? try c.knownIntegers(1).first : nil
    let count = try known ?? c.integer(Fields.k)
    let op = TopK(axis: axis, count: count, takesLargest: try !c.flag(Fields.useBottomK), scalar: .int32)
    return try c.emitter.addAll(op, [value]).map { Blob($0, c.emitter.shape($0)) }
  }

  static let argSort = LayerMapper(Layers.argSort) { c in
    typealias Fields = LayerSchema.ArgSortLayerParams
    let value = try c.logical(0)
    let axis = try c.axis(Fields.axis, of: value)
    let size = c.emitter.shape(value)[axis]
    let op = TopK(axis: axis, count: size, takesLargest: try c.flag(Fields.descending), scalar: .int32)
    let results = try c.emitter.addAll(op, [value])
    return Blob(results[1], c.emitter.shape(results[1]))
  }

  static let cumSum = LayerMapper(Layers.cumSum, valueDependent: [1]) { c in
    typealias Fields = LayerSchema.CumSumLayerParams
    let x = try c.input(0)
    let value = try c.logical(x)
    let known = c.inputs.count > 1 ? try c.knownIntegers(1).first : nil
    let axis = try c.emitter.axis(try known ?? c.integer(Fields.axis), of: value)
    let op = CumulativeReduce(
      .sum, axis: axis, isExclusive: try c.flag(Fields.excludeFinalSum), isReversed: try c.flag(Fields.reverse))
    return Blob(try c.emitter.add(op, value), x.shape)
  }
}

extension LayerContext {
  /// Returns a result with at least one axis: networks have no scalar tensors.
  func ranked(_ id: ValueID) -> Blob {
    let shape = emitter.shape(id)
    return Blob(id, shape.rank == 0 ? [1] : shape)
  }
}
