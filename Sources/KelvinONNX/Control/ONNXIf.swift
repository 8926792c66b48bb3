import KelvinGraph
import KelvinImport

extension ONNXControl {
  static let branch = ONNXControl(
    name: "If", valueDependentInputs: { $0.givesLists("then_branch") ? [0] : [] }
  ) { operation, source, scope in
    if let known = try operation.emitter.number(try operation.input(0)) {
      let graph = try operation.graph(known != 0 ? "then_branch" : "else_branch")
      let missing = try ONNXGraphSource.missing(in: graph.nodes)
      guard missing.list.isEmpty else { throw FormatError.missing(missing.list, file: source.file) }
      let results = try scope.inside(graph) { try source.entities(of: graph, operation, scope) }
      guard results.count == operation.node.outputs.count else { throw operation.wrongCount(results.count) }
      return results
    }
    func side(_ attribute: String) throws -> Emitter.Side {
      let graph = try operation.graph(attribute)
      return Emitter.Side(missing: try ONNXGraphSource.missing(in: graph.nodes)) {
        let results = try scope.inside(graph) { try source.outputs(of: graph, operation, scope) }
        guard results.count == operation.node.outputs.count else { throw operation.wrongCount(results.count) }
        return results
      }
    }
    return try operation.emitter.branch(
      try operation.input(0), then: side("then_branch"), otherwise: side("else_branch"), file: source.file,
      flow: operation.node.flowName
    ).map { .tensor($0) }
  }
}

extension ONNXOperation {
  fileprivate func wrongCount(_ count: Int) -> GraphError {
    emitter.invalid("its branch has \(count) outputs, expected \(node.outputs.count)")
  }
}
