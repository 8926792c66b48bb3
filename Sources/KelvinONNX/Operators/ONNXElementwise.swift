import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Functions of each element, comparisons, and selection.
  static let elementwise: [ONNXMapper] =
    [
      ("Abs", .abs), ("Acos", .acos), ("Acosh", .acosh), ("Asin", .asin), ("Asinh", .asinh), ("Atan", .atan),
      ("Atanh", .atanh), ("Ceil", .ceil), ("Cos", .cos), ("Cosh", .cosh), ("Erf", .erf), ("Exp", .exp),
      ("Floor", .floor), ("HardSwish", .hardSwish), ("Log", .log), ("Neg", .negate), ("Not", .logicalNot),
      ("Reciprocal", .reciprocal), ("Relu", .relu), ("Round", .round), ("Sigmoid", .sigmoid), ("Sign", .sign),
      ("Sin", .sin), ("Sinh", .sinh), ("Softplus", .softplus), ("Softsign", .softsign), ("Sqrt", .sqrt),
      ("Tan", .tan), ("Tanh", .tanh),
    ].map { (name: String, kind: UnaryFunction.Kind) in
      ONNXMapper(name) { c in [try c.emitter.unary(UnaryFunction(kind), try c.input(0))] }
    }
    + [
      ("Add", .add), ("Sub", .subtract), ("Mul", .multiply), ("Div", .divide), ("And", .logicalAnd),
      ("Or", .logicalOr), ("Xor", .logicalXor), ("BitwiseAnd", .logicalAnd), ("BitwiseOr", .logicalOr),
      ("BitwiseXor", .logicalXor),
    ].map { (name: String, function: Binary.Function) in
      ONNXMapper(name) { c in [try c.emitter.binary(function, try c.input(0), try c.secondOperand())] }
    }
    + [
      ("Equal", .equal), ("Less", .less), ("LessOrEqual", .lessOrEqual), ("Greater", .greater),
      ("GreaterOrEqual", .greaterOrEqual),
    ].map { (name: String, function: Compare.Function) in
      ONNXMapper(name) { c in [try c.emitter.add(Compare(function), try c.input(0), try c.secondOperand())] }
    }
    + [
      variadic("Max", .maximum), variadic("Min", .minimum), variadic("Sum", .add), mean, power, modulo, bitwiseNot,
      bitShift, isNaN, isInfinite, select,
    ]

  /// A power. The exponent may have another type than the base; the result has the type of the base.
  private static let power = ONNXMapper("Pow") { c in
    let (x, y) = (try c.input(0), try c.secondOperand())
    if try c.emitter.number(y) == 2, c.emitter.shape(y).rank <= c.emitter.shape(x).rank {
      return [try c.emitter.unary(UnaryFunction(.square), x)]
    }
    let (base, power) = (c.emitter.scalar(x), c.emitter.scalar(y))
    if power.isFloatingPoint, !base.isFloatingPoint {
      let raised = try c.emitter.binary(.power, try c.emitter.cast(x, to: power, step: "base"), y, step: "raised")
      return [try c.emitter.cast(raised, to: base)]
    }
    let exponent = try c.emitter.cast(y, to: base, step: "exponent")
    return [try c.emitter.binary(.power, x, exponent)]
  }

  /// The remainder, with the sign of the divisor, or with `fmod` that of the dividend.
  private static let modulo = ONNXMapper("Mod") { c in
    [try c.emitter.binary(c.flag("fmod") ? .remainder : .modulo, try c.input(0), try c.input(1))]
  }

  private static func variadic(_ name: String, _ function: Binary.Function) -> ONNXMapper {
    ONNXMapper(name) { c in
      let values = try c.allInputs()
      return [try fold(values, function, isLast: true, c.emitter)]
    }
  }

  private static let mean = ONNXMapper("Mean") { c in
    let values = try c.allInputs()
    if values.count == 1 { return values }
    let sum = try fold(values, .add, isLast: false, c.emitter)
    guard c.emitter.scalar(sum) != .float64 else {
      return [try c.emitter.binary(.divide, sum, c.emitter.constant(Double(values.count), .float64, step: "count"))]
    }
    return [try c.emitter.unary(UnaryFunction(.affine, a: 1 / Float(values.count)), sum)]
  }

  private static func fold(
    _ values: [ValueID], _ function: Binary.Function, isLast: Bool, _ emitter: Emitter
  ) throws -> ValueID {
    var result = values[0]
    for (index, value) in values.enumerated().dropFirst() {
      let step = isLast && index == values.count - 1 ? nil : "\(index)"
      result = try emitter.binary(function, result, value, step: step)
    }
    return result
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
