import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Pads the last axes by amounts before and after, axis by axis.
  static let pad = MILMapper("pad", valueDependent: ["pad"]) { operation, scope in
    let x = try operation.value("x", scope)
    let rank = scope.emitter.shape(x).rank
    let pads = try operation.required(try operation.integers("pad", scope), "pad", scope)
    guard pads.count % 2 == 0, pads.count <= 2 * rank else {
      throw scope.emitter.invalid("\(pads.count) pads for \(scope.emitter.type(x))")
    }
    let untouched = [Int](repeating: 0, count: rank - pads.count / 2)
    let pairs = stride(from: 0, to: pads.count, by: 2)
    let (before, after) = (untouched + pairs.map { pads[$0] }, untouched + pairs.map { pads[$0 + 1] })
    switch try operation.text("mode", scope) ?? "constant" {
    case "constant":
      let value = try operation.scalar("constant_val", scope) ?? Tensor([Float(0)], [])
      return try scope.emitter.pad(x, before: before, after: after, value: value)
    case "reflect": return try scope.emitter.pad(x, before: before, after: after, mode: .reflect)
    case "replicate": return try scope.emitter.pad(x, before: before, after: after, mode: .edge)
    case let other: throw scope.emitter.invalid("mode '\(other)' is not known")
    }
  }
}
