import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let range = ONNXMapper("Range", valueDependent: [0, 1, 2]) { c in
    guard let start = try c.constantScalar(0, "start"), let limit = try c.constantScalar(1, "limit"),
      let delta = try c.constantScalar(2, "delta")
    else { throw c.emitter.invalid("has no start, limit and delta") }
    return [try c.emitter.range(from: start, to: limit, by: delta)]
  }

  /// Ones on the k-th diagonal.
  static let eyeLike = ONNXMapper("EyeLike", readsOnlyShapes: true) { c in
    let x = try c.input(0)
    guard c.emitter.shape(x).rank == 2 else { throw c.emitter.invalid("expected a matrix, got \(c.emitter.type(x))") }
    let number = c.node.attributes["dtype"]?.integer
    guard let scalar = number.map({ ScalarType(onnx: $0) }) ?? c.emitter.scalar(x) else {
      throw c.unsupported("ONNX's type number \(number ?? 0)")
    }
    let offset = c.integer("k", default: 0)
    let one = c.emitter.constant(1, scalar, step: "one")
    let ones = try c.emitter.add(Expand(c.emitter.shape(x)), one, step: "ones")
    return [try c.emitter.band(ones, lower: offset, upper: offset)]
  }

  /// Keeps the part of each matrix from its k-th diagonal on, or up to it.
  static let trilu = ONNXMapper("Trilu", valueDependent: [1]) { c in
    let x = try c.input(0)
    let offset = try c.constantIntegers(1, "k")?.first ?? 0
    let isUpper = c.flag("upper", default: true)
    return [try c.emitter.band(x, lower: isUpper ? offset : nil, upper: isUpper ? nil : offset)]
  }

  static let einsum = ONNXMapper("Einsum") { c in
    let operands = try c.allInputs()
    return [try c.emitter.einsum(c.text("equation", default: ""), operands)]
  }
}
