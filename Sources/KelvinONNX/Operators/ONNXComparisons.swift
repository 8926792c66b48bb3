import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Comparisons, operations on booleans, and selection by them.
  static let comparisons: [ONNXMapper] = [
    compare("Equal", .equal), compare("Less", .less), compare("LessOrEqual", .lessOrEqual),
    compare("Greater", .greater), compare("GreaterOrEqual", .greaterOrEqual),
    logical("And", .logicalAnd), logical("Or", .logicalOr), logical("Xor", .logicalXor), not,
    logical("BitwiseAnd", .logicalAnd), logical("BitwiseOr", .logicalOr), logical("BitwiseXor", .logicalXor),
    bitwiseNot,
    bitShift, isNaN, isInfinite, select,
  ]

  private static func compare(_ name: String, _ function: Compare.Function) -> ONNXMapper {
    ONNXMapper(name) { c in
      let (x, y) = (try c.input(0), try c.input(1))
      return [try c.emitter.add(Compare(function), x, y)]
    }
  }

  private static func logical(_ name: String, _ function: Binary.Function) -> ONNXMapper {
    ONNXMapper(name) { c in
      let (x, y) = (try c.input(0), try c.input(1))
      return [try c.emitter.binary(function, x, y)]
    }
  }

  private static let not = ONNXMapper("Not") { c in
    let x = try c.input(0)
    return [try c.emitter.unary(UnaryFunction(.logicalNot), x)]
  }

  private static let bitwiseNot = ONNXMapper("BitwiseNot") { c in
    let x = try c.input(0)
    return [try c.emitter.binary(.logicalXor, x, c.emitter.constant(integers: [-1], c.emitter.scalar(x), shape: []))]
  }

  private static let bitShift = ONNXMapper("BitShift") { c in
    let (x, count) = (try c.input(0), try c.input(1))
    switch c.text("direction", default: "") {
    case "LEFT": return [try c.emitter.binary(.shiftLeft, x, count)]
    case "RIGHT": return [try c.emitter.binary(.shiftRight, x, count)]
    case let other: throw c.emitter.invalid("direction '\(other)' is not known")
    }
  }

  /// Tests for not-a-number, the only value that differs from itself.
  private static let isNaN = ONNXMapper("IsNaN") { c in
    let x = try c.input(0)
    return [try c.emitter.add(Compare(.notEqual), x, x)]
  }

  private static let isInfinite = ONNXMapper("IsInf") { c in
    let x = try c.input(0)
    let scalar = c.emitter.scalar(x)
    let (positive, negative) = (c.flag("detect_positive", default: true), c.flag("detect_negative", default: true))
    let bound = c.emitter.constant(positive ? .infinity : -.infinity, scalar, step: "bound")
    if positive, negative {
      let magnitude = try c.emitter.unary(UnaryFunction(.abs), x, step: "magnitude")
      return [try c.emitter.add(Compare(.equal), magnitude, bound)]
    }
    if positive || negative { return [try c.emitter.add(Compare(.equal), x, bound)] }
    let no = c.emitter.constant(0, .bool, step: "no")
    return [try c.emitter.add(Expand(c.emitter.shape(x)), no)]
  }

  private static let select = ONNXMapper("Where") { c in
    let (condition, x, y) = (try c.input(0), try c.input(1), try c.input(2))
    return [try c.emitter.add(Select(), condition, x, y)]
  }
}
