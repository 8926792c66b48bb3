import KelvinGraph

extension ONNXControl {
  static let branch = ONNXControl(
    name: "If",
    valuedInputs: { $0.knowsItsSide ? [0] : [] }
  ) { operation, source, scope in
    func side(_ attribute: String) throws -> Emitter.Side {
      let graph = try operation.graph(attribute)
      return Emitter.Side(missing: try source.missing(in: graph.nodes)) {
        let results = try scope.inside(graph) { try source.outputs(of: graph, operation, scope) }
        guard results.count == operation.node.outputs.count else {
          throw operation.emitter.invalid(
            "its branch has \(results.count) outputs, expected \(operation.node.outputs.count)")
        }
        return results
      }
    }
    return try operation.emitter.branch(
      try operation.input(0), then: side("then_branch"), otherwise: side("else_branch"), file: source.file)
  }
}
