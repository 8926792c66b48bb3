import KelvinGraph

extension MILMapper {
  /// Amounts are given before and after, axis by axis, for the last axes.
  static let pad = MILMapper("pad") { operation, scope in
    let x = try operation.value("x", &scope)
    let rank = scope.emitter.shape(x).rank
    let pads = try operation.required(try operation.integers("pad", scope), "pad", scope)
    guard pads.count % 2 == 0, pads.count <= 2 * rank else {
      throw scope.emitter.invalid("\(pads.count) pads for \(scope.emitter.type(x))")
    }
    let untouched = [Int](repeating: 0, count: rank - pads.count / 2)
    let mode: Pad.Mode
    switch try operation.text("mode", scope) ?? "constant" {
    case "constant": mode = .constant(try operation.number("constant_val", scope) ?? 0)
    case "reflect": mode = .reflect
    case "replicate": mode = .edge
    case let other: throw scope.emitter.invalid("mode '\(other)' is not known")
    }
    let pairs = stride(from: 0, to: pads.count, by: 2)
    return try scope.emitter.pad(
      x, before: untouched + pairs.map { pads[$0] }, after: untouched + pairs.map { pads[$0 + 1] }, mode: mode)
  }
}
