import KelvinGraph

extension MILControl {
  /// Where the condition is known while the graph is built its block is written in place; else both become regions, of which one may
  /// lack what Kelvin lacks.
  static let branch = MILControl(name: "cond") { operation, source, scope in
    let emitter = scope.emitter
    let condition = try operation.value("pred", scope)
    if let known = try emitter.number(condition) {
      let block = try operation.block(known != 0 ? 0 : 1, scope)
      var missing = MissingOperations()
      source.findMissing(in: block, &missing)
      guard missing.list.isEmpty else { throw FormatError.missing(missing.list, file: source.file) }
      return try source.outputs(of: block, [], operation, scope)
    }
    var regions: [WrittenRegion] = []
    for (index, role) in [Region.Role.then, .otherwise].enumerated() {
      let block = try operation.block(index, scope)
      var missing = MissingOperations()
      source.findMissing(in: block, &missing)
      guard missing.list.isEmpty else {
        regions.append(WrittenRegion(role, refusal: FormatError.missing(missing.list, file: source.file).reason))
        continue
      }
      do {
        regions.append(try emitter.region(role) { try source.outputs(of: block, [], operation, scope) })
      } catch let error as FormatError where error.code == .unsupported || error.code == .missing {
        regions.append(WrittenRegion(role, refusal: error.description))
      }
    }
    return try emitter.branch(condition, regions)
  }
}
