import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Reduces over channels, rows, columns or several of them, whose sizes become 1.
  static let reduce = LayerMapper(Layers.reduce) { layer, scope in
    typealias Fields = LayerSchema.ReduceLayerParams
    var x = try layer.input(0, scope)
    let count: [Int]
    switch try layer.parameters.integer(Fields.axis) ?? 0 {
    case Fields.ReduceAxis.chw: count = [-3, -2, -1]
    case Fields.ReduceAxis.hw: count = [-2, -1]
    case Fields.ReduceAxis.c: count = [-3]
    case Fields.ReduceAxis.h: count = [-2]
    case Fields.ReduceAxis.w: count = [-1]
    case let axis: throw scope.emitter.invalid("axis \(axis) is not known")
    }
    let mode = try layer.parameters.integer(Fields.mode) ?? 0
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
      let epsilon = try layer.parameters.number(Fields.epsilon, default: 1e-6)
      let raised = try scope.unary(UnaryFunction(.affine, a: 1, b: epsilon), x, step: "raised")
      x = try scope.unary(UnaryFunction(.log), raised, step: "logarithms")
      function = .sum
    case Fields.ReduceOperation.argmax:
      guard count.count == 1 else { throw scope.emitter.invalid("finds a maximum along several axes") }
      let value = hasPlanes ? try scope.planes(x) : try scope.logical(x)
      let axis = try scope.emitter.axis(count[0], of: value)
      let op = ArgReduce(.maximum, axis: axis, keepsDimensions: true, scalar: .int32)
      let result = try scope.emitter.add(op, value)
      return hasPlanes ? scope.fromPlanes(result, x) : Blob(result, scope.emitter.shape(result))
    default: throw scope.emitter.invalid("mode \(mode) is not known")
    }
    let value = hasPlanes ? try scope.planes(x) : try scope.logical(x)
    let op = Reduce(function, axes: try scope.emitter.axes(count, of: value), keepsDimensions: true)
    let result = try scope.emitter.add(op, value)
    return hasPlanes ? scope.fromPlanes(result, x) : Blob(result, scope.emitter.shape(result))
  }
}
