import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Reductions, most of them over any axes: ten layers have the same parameters.
  static let reductions: [LayerMapper] =
    [reduce, argMax, argMin, topK, argSort, cumSum]
    + [
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

  /// Reduces over channels, rows, columns or several of them, whose sizes become 1.
  private static let reduce = LayerMapper(Layers.reduce) { c in
    typealias Fields = LayerSchema.ReduceLayerParams
    var x = try c.input(0)
    let count: [Int]
    switch try c.integer(Fields.axis) {
    case Fields.ReduceAxis.chw: count = [-3, -2, -1]
    case Fields.ReduceAxis.hw: count = [-2, -1]
    case Fields.ReduceAxis.c: count = [-3]
    case Fields.ReduceAxis.h: count = [-2]
    case Fields.ReduceAxis.w: count = [-1]
    case let axis: throw c.emitter.invalid("axis \(axis) is not known")
    }
    let mode = try c.integer(Fields.mode)
    let hasPlanes = x.shape.rank >= 3
    let function: Reduce.Function
    switch mode {
    case Fields.ReduceOperation.sum: function = .sum
    case Fields.ReduceOperation.avg: function = .mean
    case Fields.ReduceOperation.prod: function = .product
    case Fields.ReduceOperation.sumsquare: function = .sumOfSquares
    case Fields.ReduceOperation.l1: function = .l1
    case Fields.ReduceOperation.l2: function = .l2
    case Fields.ReduceOperation.max: function = .maximum
    case Fields.ReduceOperation.min: function = .minimum
    case Fields.ReduceOperation.logsum:
      let epsilon = try c.number(Fields.epsilon, default: 1e-6)
      let raised = try c.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "raised")
      x = try c.unary(UnaryFunction(.log), raised, step: "logarithms")
      function = .sum
    case Fields.ReduceOperation.argmax:
      guard count.count == 1 else { throw c.emitter.invalid("finds a maximum along several axes") }
      let value = hasPlanes ? try c.planes(x) : try c.logical(x)
      let axis = try c.emitter.axis(count[0], of: value)
      let op = ArgReduce(.maximum, axis: axis, keepsDimensions: true, scalar: .int32)
      let result = try c.emitter.add(op, value)
      return hasPlanes ? c.fromPlanes(result, x) : Blob(result, c.emitter.shape(result))
    default: throw c.emitter.invalid("mode \(mode) is not known")
    }
    let value = hasPlanes ? try c.planes(x) : try c.logical(x)
    let op = Reduce(function, axes: try c.emitter.axes(count, of: value), keepsDimensions: true)
    let result = try c.emitter.add(op, value)
    return hasPlanes ? c.fromPlanes(result, x) : Blob(result, c.emitter.shape(result))
  }

  private static let argMax = extreme(Layers.argMax, .maximum)
  private static let argMin = extreme(Layers.argMin, .minimum)

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
  private static let topK = LayerMapper(several: Layers.topK, valueDependent: [1]) { c in
    typealias Fields = LayerSchema.TopKLayerParams
    let value = try c.logical(0)
    let axis = try c.axis(Fields.axis, of: value)
    let known = c.inputs.count > 1 ? try c.knownIntegers(1).first : nil
    let count = try known ?? c.integer(Fields.k)
    let op = TopK(axis: axis, count: count, takesLargest: try !c.flag(Fields.useBottomK), scalar: .int32)
    return try c.emitter.addAll(op, [value]).map { Blob($0, c.emitter.shape($0)) }
  }

  private static let argSort = LayerMapper(Layers.argSort) { c in
    typealias Fields = LayerSchema.ArgSortLayerParams
    let value = try c.logical(0)
    let axis = try c.axis(Fields.axis, of: value)
    let size = c.emitter.shape(value)[axis]
    let op = TopK(axis: axis, count: size, takesLargest: try c.flag(Fields.descending), scalar: .int32)
    let results = try c.emitter.addAll(op, [value])
    return Blob(results[1], c.emitter.shape(results[1]))
  }

  private static let cumSum = LayerMapper(Layers.cumSum, valueDependent: [1]) { c in
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
