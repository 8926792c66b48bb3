import KelvinGraph
import KelvinImport

extension MILMapper {
  static let softmax = MILMapper("softmax") { operation, scope in
    let x = try operation.value("x", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? -1, of: x)
    return try scope.emitter.add(Softmax(axis: axis), x)
  }
}
