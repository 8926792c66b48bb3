import KelvinGraph

extension MILMapper {
  static let linear = MILMapper("linear") { operation, scope in
    let x = try operation.value("x", scope)
    // From iOS 17 on they may be of other types than x, which is the result's.
    let weights = try scope.emitter.cast(
      try operation.value("weight", scope), to: scope.emitter.scalar(x), step: "weight")
    let bias = try operation.optional("bias", scope).map {
      try scope.emitter.cast($0, to: scope.emitter.scalar(x), step: "bias")
    }
    return try scope.emitter.add(
      Linear(epilogue: Epilogue(hasBias: bias != nil)), [x, weights] + (bias.map { [$0] } ?? []))
  }

  static let matmul = MILMapper("matmul") { operation, scope in
    let x = try operation.value("x", scope)
    let y = try scope.emitter.cast(try operation.value("y", scope), to: scope.emitter.scalar(x), step: "y_as_x")
    let transposesX = try operation.flag("transpose_x", scope)
    let transposesY = try operation.flag("transpose_y", scope)
    return try scope.emitter.matmul(x, y, transposesX: transposesX, transposesY: transposesY)
  }
}
