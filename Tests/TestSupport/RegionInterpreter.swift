package import KelvinGraph
import KelvinReference

/// The definition of a graph with control flow and state, region by region, against which the runtime is tested. It
/// shares only the operators with the runtime.
package struct RegionInterpreter {
  /// The final value of each state, by name.
  package var states: [String: Tensor] = [:]

  package init() {}

  package mutating func run(_ graph: Graph, _ inputs: [Tensor]) throws -> [Tensor] {
    var values: [ValueID: Tensor] = [:]
    for (id, tensor) in zip(graph.inputs, inputs) { values[id] = tensor }
    for state in graph.states { values[state.read] = states[state.name] ?? Self.zeros(graph[state.read].type) }
    try Self.run(graph, &values)
    for state in graph.states {
      if let written = state.written { states[state.name] = values[written] ?? graph[written].weight?.dense() }
    }
    return graph.outputs.map { values[$0] ?? graph[$0].weight?.dense() ?? Self.zeros(graph[$0].type) }
  }

  private static func zeros(_ type: TensorType) -> Tensor {
    Tensor(type, rounding: [Double](repeating: 0, count: type.count))
  }

  private static func run(_ region: Graph, given: [Tensor]) throws -> [Tensor] {
    var values: [ValueID: Tensor] = [:]
    for (id, tensor) in zip(region.inputs, given) { values[id] = tensor }
    try run(region, &values)
    return region.outputs.compactMap { values[$0] ?? region[$0].weight?.dense() }
  }

  private static func run(_ graph: Graph, _ values: inout [ValueID: Tensor]) throws {
    for node in graph.nodes {
      let operands = node.inputs.compactMap { values[$0] ?? graph[$0].weight?.dense() }
      func captured(_ region: Region) -> [Tensor] { region.captures.map { operands[$0] } }
      var results: [Tensor]
      switch node.op {
      case is Branch:
        let region = node.regions[operands[0].doubles[0] != 0 ? 0 : 1]
        results = try run(region.graph, given: captured(region))
      case let loop as Loop:
        let body = node.regions[0]
        let limit = operands[0].integers[0]
        var goesOn = !loop.isConditional || operands[1].doubles[0] != 0
        var carried = Array(operands[loop.firstCarriedOperand..<loop.ownOperandCount])
        var rows = loop.accumulated.map { _ in [Double]() }
        var iterations = 0
        while goesOn, limit < 0 || iterations < limit {
          let number = Tensor(TensorType(.int64, []), rounding: [Double(iterations)])
          var out = try run(body.graph, given: [number] + carried + captured(body))
          if loop.isConditional { goesOn = out.removeFirst().doubles[0] != 0 }
          carried = Array(out.prefix(loop.carriedCount))
          for index in rows.indices { rows[index] += out[loop.carriedCount + index].doubles }
          iterations += 1
        }
        results = carried
        for (type, row) in zip(loop.accumulated, rows) {
          results.append(Tensor(type, rounding: row + [Double](repeating: 0, count: type.count - row.count)))
        }
        results.append(Tensor(TensorType(.int64, []), rounding: [Double(iterations)]))
      default: results = try ReferenceEvaluator().evaluate(node.op, operands)
      }
      for (id, tensor) in zip(node.outputs, results) { values[id] = tensor }
    }
  }
}
