import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Element-wise operators of two or more inputs.
  static let arithmetic: [ONNXMapper] = [
    binary("Add", .add), binary("Sub", .subtract), binary("Mul", .multiply), binary("Div", .divide), power,
    variadic("Max", .maximum), variadic("Min", .minimum), variadic("Sum", .add), mean, modulo,
  ]

  private static func binary(_ name: String, _ function: Binary.Function) -> ONNXMapper {
    ONNXMapper(name) { c in
      let (x, y) = (try c.input(0), try c.input(1))
      return [try c.emitter.binary(function, x, y)]
    }
  }

  /// A power. The exponent may have another type than the base; the result has the type of the base.
  private static let power = ONNXMapper("Pow") { c in
    let (x, y) = (try c.input(0), try c.input(1))
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
    let (x, y) = (try c.input(0), try c.input(1))
    return [try c.emitter.binary(c.flag("fmod") ? .remainder : .modulo, x, y)]
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
}
