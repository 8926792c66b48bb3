import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Pads. Amounts and value are attributes before operator set 11 and inputs from then on; axes are an input from 18
  /// on.
  static let pad = ONNXMapper("Pad", valueDependent: [1, 2, 3]) { c in
    let x = try c.input(0)
    let rank = c.emitter.shape(x).rank
    guard let pads = try c.integers(attribute: "pads", orInput: 1) else { throw c.emitter.invalid("has no pads") }
    let axes = try c.constantIntegers(3, "axes") ?? Array(0..<rank)
    guard pads.count == 2 * axes.count else {
      throw c.emitter.invalid("\(pads.count) pads for \(axes.count) axes, expected \(2 * axes.count)")
    }
    _ = try c.emitter.axes(axes, of: x)
    var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
    for (index, axis) in axes.enumerated() {
      let place = try c.emitter.axis(axis, of: x)
      before[place] = pads[index]
      after[place] = pads[axes.count + index]
    }
    switch c.text("mode", default: "constant") {
    case "constant":
      let given = c.opset < 11 ? nil : try c.constantScalar(2, "value")
      let value = given ?? Tensor([c.opset < 11 ? c.float("value", default: 0) : 0], [])
      return [try c.emitter.pad(x, before: before, after: after, value: value)]
    case "reflect": return [try c.emitter.pad(x, before: before, after: after, mode: .reflect)]
    case "wrap": return [try c.emitter.wrap(x, before: before, after: after)]
    case "edge": return [try c.emitter.pad(x, before: before, after: after, mode: .edge)]
    case let other: throw c.unsupported("mode '\(other)'")
    }
  }
}
