import KelvinGraph

extension ONNXControl {
  /// Where the condition is known while the graph is built, as exporters leave it where they ask for a size, the branch
  /// it takes is written in place; else both become regions, of which one may lack what Kelvin lacks.
  static let branch = ONNXControl(name: "If") { operation, source, scope in
    let condition = try operation.input(0)
    let emitter = operation.emitter
    if let known = try emitter.number(condition) {
      let taken = try operation.graph(known != 0 ? "then_branch" : "else_branch")
      let missing = try source.missing(in: taken)
      guard missing.list.isEmpty else { throw FormatError.missing(missing.list, file: source.file) }
      let results = try scope.inside(taken) { try source.outputs(of: taken, operation, scope) }
      return try operation.checked(results)
    }
    var regions: [WrittenRegion] = []
    for (role, attribute) in [(Region.Role.then, "then_branch"), (.otherwise, "else_branch")] {
      regions.append(try operation.region(role, try operation.graph(attribute), source, scope))
    }
    if regions.allSatisfy({ $0.refusal != nil }) {
      throw operation.unsupported(
        "neither of its branches can run: \(regions.compactMap(\.refusal).joined(separator: "; "))")
    }
    return try emitter.branch(condition, regions)
  }
}

extension ONNXOperation {
  fileprivate func checked(_ results: [ValueID]) throws -> [ValueID] {
    guard results.count == node.outputs.count else {
      throw emitter.invalid("its branch has \(results.count) outputs, expected \(node.outputs.count)")
    }
    return results
  }

  /// A branch as a region, or why it cannot run.
  fileprivate func region(
    _ role: Region.Role, _ graph: ONNXGraph, _ source: ONNXGraphSource, _ scope: ONNXScope
  ) throws -> WrittenRegion {
    let missing = try source.missing(in: graph)
    guard missing.list.isEmpty else {
      return WrittenRegion(role, refusal: FormatError.missing(missing.list, file: file).reason)
    }
    do {
      return try emitter.region(role) {
        try scope.inside(graph) { try checked(source.outputs(of: graph, self, scope)) }
      }
    } catch let error as FormatError where error.code == .unsupported || error.code == .missing {
      return WrittenRegion(role, refusal: error.description)
    }
  }
}
