import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Comparisons, operations on booleans, and selection by them.
  static let comparisons: [MILMapper] = [
    compare("equal", .equal), compare("not_equal", .notEqual), compare("less", .less),
    compare("less_equal", .lessOrEqual), compare("greater", .greater), compare("greater_equal", .greaterOrEqual),
    logical("logical_and", .logicalAnd), logical("logical_or", .logicalOr), logical("logical_xor", .logicalXor),
    logicalNot, select,
  ]

  private static func compare(_ name: String, _ function: Compare.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      let y = try operation.value("y", scope)
      return try scope.emitter.add(Compare(function), x, y)
    }
  }

  private static func logical(_ name: String, _ function: Binary.Function) -> MILMapper {
    MILMapper(name) { operation, scope in
      let x = try operation.value("x", scope)
      let y = try operation.value("y", scope)
      return try scope.emitter.binary(function, x, y)
    }
  }

  private static let logicalNot = MILMapper("logical_not") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.unary(UnaryFunction(.logicalNot), x)
  }

  private static let select = MILMapper("select") { operation, scope in
    let condition = try operation.value("cond", scope)
    guard let a = try operation.optional("a", scope), let b = try operation.optional("b", scope) else {
      throw scope.emitter.invalid(
        "without a and b it returns positions, which is not supported: their number depends on data")
    }
    return try scope.emitter.add(Select(), condition, a, b)
  }
}
