import KelvinGraph
import KelvinImport

extension MILMapper {
  static let maxPool = MILMapper("max_pool") { operation, scope in try operation.pool(.maximum, scope) }

  static let avgPool = MILMapper("avg_pool") { operation, scope in
    let excludes = try operation.flag("exclude_padding_from_average", scope)
    return try operation.pool(excludes ? .average : .averageIncludingPadding, scope)
  }

  static let l2Pool = MILMapper("l2_pool") { operation, scope in
    let x = try operation.value("x", scope)
    let kernel = try operation.required(try operation.integers("kernel_sizes", scope), "kernel_sizes", scope)
    let roundsUp = try operation.flag("ceil_mode", scope)
    let window = try operation.window(kernel: kernel, over: x, roundsUp: roundsUp, scope)
    return try scope.emitter.lengthPool(x, window, order: 2)
  }
}

extension MILOperation {
  fileprivate func pool(_ function: Pool.Function, _ scope: MILScope) throws -> ValueID {
    let x = try value("x", scope)
    let kernel = try required(try integers("kernel_sizes", scope), "kernel_sizes", scope)
    let window = try window(kernel: kernel, over: x, roundsUp: try flag("ceil_mode", scope), scope)
    return try scope.emitter.add(Pool(function, window: window), x)
  }
}
