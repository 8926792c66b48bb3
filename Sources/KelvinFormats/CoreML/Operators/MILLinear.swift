import KelvinGraph

extension MILMapper {
  static let linear = MILMapper("linear") { operation, scope in
    let x = try operation.value("x", scope)
    let weights = try operation.value("weight", scope)
    let bias = try operation.optional("bias", scope)
    return try scope.emitter.add(
      Linear(epilogue: Epilogue(hasBias: bias != nil)), [x, weights] + (bias.map { [$0] } ?? []))
  }

  static let matmul = MILMapper("matmul") { operation, scope in
    let x = try operation.value("x", scope)
    let y = try operation.value("y", scope)
    let transposesX = try operation.flag("transpose_x", scope)
    let transposesY = try operation.flag("transpose_y", scope)
    return try scope.emitter.matmul(x, y, transposesX: transposesX, transposesY: transposesY)
  }
}
