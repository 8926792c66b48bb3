import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Reduces over channels, rows, columns or several of them, whose sizes become 1.
  static let reduce = LayerMapper(Layers.reduce) { c in
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
}
