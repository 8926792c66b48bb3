import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Element-wise operations of two inputs.
  static let arithmetic: [MILMapper] = [
    binary("add", .add), binary("sub", .subtract), binary("mul", .multiply), binary("real_div", .divide),
    binary("maximum", .maximum), binary("minimum", .minimum), binary("pow", .power),
    binary("floor_div", .floorDivide), binary("mod", .modulo),
  ]

  private static func binary(_ name: String, _ function: Binary.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      let y = try operation.value("y", scope)
      return try scope.emitter.binary(function, x, y)
    }
  }
}
