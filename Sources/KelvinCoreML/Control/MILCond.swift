import KelvinGraph
import KelvinImport

extension MILControl {
  /// A conditional. A state that either block updates is an additional result of the branch.
  static let branch = MILControl(name: "cond") { operation, source, scope in
    let updated = operation.statesOfBlocks
    func side(_ index: Int) throws -> Emitter.Side {
      let block = try operation.block(index, scope)
      var missing = MissingOperations()
      source.findMissing(in: block, &missing)
      return Emitter.Side(missing: missing) {
        try scope.keepingStates {
          try source.outputs(of: block, [], operation, scope) + updated.map { try scope.state($0) }
        }
      }
    }
    let results = try scope.emitter.branch(
      try operation.value("pred", scope), then: side(0), otherwise: side(1), file: source.file,
      flow: operation.name)
    for (name, id) in zip(updated, results.suffix(updated.count)) { try scope.update(name, id) }
    return Array(results.dropLast(updated.count))
  }
}
