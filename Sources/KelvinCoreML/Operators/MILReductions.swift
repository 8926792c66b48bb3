import KelvinGraph
import KelvinImport

extension MILMapper {
  static let reductions: [MILMapper] = [
    reduce("reduce_l1_norm", .l1), reduce("reduce_l2_norm", .l2), reduce("reduce_log_sum", .logSum),
    reduce("reduce_log_sum_exp", .logSumExp), reduce("reduce_max", .maximum), reduce("reduce_mean", .mean),
    reduce("reduce_min", .minimum), reduce("reduce_prod", .product), reduce("reduce_sum", .sum),
    reduce("reduce_sum_square", .sumOfSquares), argReduce("reduce_argmax", .maximum),
    argReduce("reduce_argmin", .minimum),
  ]

  private static func argReduce(_ name: String, _ function: ArgReduce.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? -1, of: x)
      let keeps = try operation.flag("keep_dims", scope)
      let scalar = operation.outputs.first?.type.scalar ?? .int32
      return try scope.emitter.add(ArgReduce(function, axis: axis, keepsDimensions: keeps, scalar: scalar), x)
    }
  }

  private static func reduce(_ name: String, _ function: Reduce.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      let named = try operation.integers("axes", scope)
      let axes = try named.map { try scope.emitter.axes($0, of: x) } ?? Array(0..<scope.emitter.shape(x).rank)
      let keeps = try operation.flag("keep_dims", scope)
      return try scope.emitter.add(Reduce(function, axes: axes, keepsDimensions: keeps), x)
    }
  }
}
