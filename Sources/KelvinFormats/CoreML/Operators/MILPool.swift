import KelvinGraph

extension MILMapper {
  static let maxPool = MILMapper("max_pool") { operation, scope in try operation.pool(.maximum, &scope) }

  static let avgPool = MILMapper("avg_pool") { operation, scope in
    let excludes = try operation.flag("exclude_padding_from_average", scope)
    return try operation.pool(excludes ? .average : .averageIncludingPadding, &scope)
  }
}

extension MILOperation {
  fileprivate func pool(_ function: Pool.Function, _ scope: inout MILScope) throws -> ValueID {
    let x = try value("x", &scope)
    let kernel = try required(try integers("kernel_sizes", scope), "kernel_sizes", scope)
    let window = try window(kernel: kernel, over: x, roundsUp: try flag("ceil_mode", scope), scope)
    return try scope.emitter.add(Pool(function, window: window), x)
  }
}
