import KelvinGraph

extension MILMapper {
  static let conv = MILMapper("conv") { operation, scope in
    let x = try operation.value("x", scope)
    let weights = try operation.value("weight", scope)
    let kernel = Array(scope.emitter.shape(weights).dimensions.dropFirst(2))
    let window = try operation.window(kernel: kernel, over: x, scope)
    let bias = try operation.optional("bias", scope)
    let op = Convolution(
      window: window, groups: try operation.integer("groups", scope) ?? 1, epilogue: Epilogue(hasBias: bias != nil))
    return try scope.emitter.add(op, [x, weights] + (bias.map { [$0] } ?? []))
  }
}

extension MILOperation {
  /// The window of a convolution or pool: `strides`, `dilations`, `pad_type`, `pad` (before and after, axis by axis).
  func window(kernel: [Int], over x: ValueID, roundsUp: Bool = false, _ scope: MILScope) throws -> Window {
    let padding: SpatialPadding
    switch try text("pad_type", scope)?.lowercased() ?? "valid" {
    case "valid": padding = .none
    case "same": padding = .same(oddAtEnd: true)
    case "same_lower": padding = .same(oddAtEnd: false)
    case "custom":
      let pads = try integers("pad", scope) ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count else {
        throw scope.emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      padding = .explicit(
        before: kernel.indices.map { pads[2 * $0] }, after: kernel.indices.map { pads[2 * $0 + 1] })
    case let other: throw scope.emitter.invalid("pad_type '\(other)' is not known")
    }
    let sizes = Array(scope.emitter.shape(x).dimensions.dropFirst(2))
    do {
      return try Window(
        kernel: kernel, strides: try integers("strides", scope), dilations: try integers("dilations", scope),
        padding: padding, roundsUp: roundsUp, over: sizes)
    } catch let error as OperatorError { throw scope.emitter.invalid(error.description) }
  }
}
