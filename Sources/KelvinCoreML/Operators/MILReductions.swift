import KelvinGraph
import KelvinImport

extension MILMapper {
  static let reductions: [MILMapper] = [
    reduce("reduce_l1_norm", .l1), reduce("reduce_l2_norm", .l2), reduce("reduce_log_sum", .logSum),
    reduce("reduce_log_sum_exp", .logSumExp), reduce("reduce_max", .maximum), reduce("reduce_mean", .mean),
    reduce("reduce_min", .minimum), reduce("reduce_prod", .product), reduce("reduce_sum", .sum),
    reduce("reduce_sum_square", .sumOfSquares), argReduce("reduce_argmax", .maximum),
    argReduce("reduce_argmin", .minimum), softmax,
  ]

  private static func argReduce(_ name: String, _ function: ArgReduce.Function) -> MILMapper {
    MILMapper(name) { c in
      let x = try c.x
      let axis = try c.axis(default: -1, of: x)
      let keeps = try c.flag("keep_dims")
      let scalar = c.declaredScalar ?? .int32
      return try c.emitter.add(ArgReduce(function, axis: axis, keepsDimensions: keeps, scalar: scalar), x)
    }
  }

  private static func reduce(_ name: String, _ function: Reduce.Function) -> MILMapper {
    MILMapper(name) { c in
      let x = try c.x
      let named = try c.integers("axes")
      let axes = try named.map { try c.emitter.axes($0, of: x) } ?? Array(0..<c.emitter.shape(x).rank)
      let keeps = try c.flag("keep_dims")
      return try c.emitter.add(Reduce(function, axes: axes, keepsDimensions: keeps), x)
    }
  }

  private static let softmax = MILMapper("softmax") { c in
    let x = try c.x
    let axis = try c.axis(default: -1, of: x)
    return try c.emitter.add(Softmax(axis: axis), x)
  }
}
