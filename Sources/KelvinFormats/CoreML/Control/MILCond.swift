import KelvinGraph

extension MILControl {
  static let branch = MILControl(name: "cond") { operation, source, scope in
    func side(_ index: Int) throws -> Emitter.Side {
      let block = try operation.block(index, scope)
      var missing = MissingOperations()
      source.findMissing(in: block, &missing)
      return Emitter.Side(missing: missing) { try source.outputs(of: block, [], operation, scope) }
    }
    return try scope.emitter.branch(
      try operation.value("pred", scope), then: side(0), otherwise: side(1), file: source.file)
  }
}
