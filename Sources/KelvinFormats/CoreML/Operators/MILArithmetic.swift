import KelvinGraph

extension MILMapper {
  /// Element-wise operations of two inputs.
  static let arithmetic: [MILMapper] = [
    binary("add", .add), binary("sub", .subtract), binary("mul", .multiply), binary("real_div", .divide),
    binary("maximum", .maximum), binary("minimum", .minimum), binary("pow", .power), floorDivision, remainder,
  ]

  private static func binary(_ name: String, _ function: Binary.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", &scope)
      let y = try operation.value("y", &scope)
      return try scope.emitter.binary(function, x, y)
    }
  }

  /// `⌊x / y⌋`
  private static let floorDivision = MILMapper("floor_div") { operation, scope in
    let (x, y) = try operation.floats(&scope)
    let quotient = try scope.emitter.binary(.divide, x, y, step: "quotient")
    return try scope.emitter.unary(UnaryFunction(.floor), quotient)
  }

  /// `x - ⌊x / y⌋ · y`
  private static let remainder = MILMapper("mod") { operation, scope in
    let (x, y) = try operation.floats(&scope)
    let quotient = try scope.emitter.binary(.divide, x, y, step: "quotient")
    let whole = try scope.emitter.unary(UnaryFunction(.floor), quotient, step: "whole")
    return try scope.emitter.binary(.subtract, x, try scope.emitter.binary(.multiply, whole, y, step: "multiple"))
  }
}

extension MILOperation {
  fileprivate func floats(_ scope: inout MILScope) throws -> (ValueID, ValueID) {
    let x = try value("x", &scope)
    let y = try value("y", &scope)
    guard scope.emitter.scalar(x).isFloatingPoint else {
      throw scope.emitter.invalid("is not supported for \(scope.emitter.type(x)), only for floating-point numbers")
    }
    return (x, y)
  }
}
