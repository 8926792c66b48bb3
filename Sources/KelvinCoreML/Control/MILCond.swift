import KelvinGraph
import KelvinImport

extension MILControl {
  /// A conditional. A state that either block updates is an additional result of the branch.
  static let branch = MILControl(name: "cond") { c, source in
    let (scope, updated) = (c.scope, c.operation.statesOfBlocks)
    func side(_ index: Int) throws -> Emitter.Side {
      let block = try c.block(index)
      var missing = MissingOperations()
      source.findMissing(in: block, &missing)
      return Emitter.Side(missing: missing) {
        try scope.keepingStates {
          try source.outputs(of: block, [], c) + updated.map { try scope.state($0) }
        }
      }
    }
    let results = try c.emitter.branch(
      try c.value("pred"), then: side(0), otherwise: side(1), file: source.file, flow: c.operation.name)
    for (name, id) in zip(updated, results.suffix(updated.count)) { try scope.update(name, id) }
    return Array(results.dropLast(updated.count))
  }
}
