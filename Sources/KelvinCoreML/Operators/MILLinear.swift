import KelvinGraph
import KelvinImport

extension MILMapper {
  static let linear = MILMapper("linear") { operation, scope in
    let x = try operation.value("x", scope)
    // From iOS 17 on the weights may have another type than x. The result has the type of x.
    let weights = try scope.emitter.cast(
      try operation.value("weight", scope), to: scope.emitter.scalar(x), step: "weight")
    let bias = try operation.optional("bias", scope).map {
      try scope.emitter.cast($0, to: scope.emitter.scalar(x), step: "bias")
    }
    guard scope.emitter.scalar(x).isFloatingPoint else {
      let product = try scope.emitter.matmul(x, weights, transposesY: true, step: bias == nil ? nil : "product")
      return try bias.map { try scope.emitter.binary(.add, product, $0) } ?? product
    }
    return try scope.emitter.add(
      Linear(epilogue: Epilogue(hasBias: bias != nil)), [x, weights] + (bias.map { [$0] } ?? []))
  }

  static let matmul = MILMapper("matmul") { operation, scope in
    var (x, y) = (try operation.value("x", scope), try operation.value("y", scope))
    // From iOS 17 on a constant may be of another type; the result has the type of the other operand.
    let isOnLeft = scope.emitter.weight(x) != nil && scope.emitter.weight(y) == nil
    let scalar = scope.emitter.scalar(isOnLeft ? y : x)
    x = try scope.emitter.cast(x, to: scalar, step: "x_as_y")
    y = try scope.emitter.cast(y, to: scalar, step: "y_as_x")
    let transposesX = try operation.flag("transpose_x", scope)
    let transposesY = try operation.flag("transpose_y", scope)
    return try scope.emitter.matmul(x, y, transposesX: transposesX, transposesY: transposesY)
  }
}
