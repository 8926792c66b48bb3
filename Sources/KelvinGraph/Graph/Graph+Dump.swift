extension Graph: CustomStringConvertible {
  /// The graph as text, one line for each input, state, weight and node, a node's regions indented below it; equal text means
  /// equal graphs up to weight contents.
  package var description: String { lines.joined(separator: "\n") }

  private var lines: [String] {
    var lines: [String] = []
    for id in inputs { lines.append("input \(reference(id)): \(self[id].type)") }
    for state in states {
      let written = state.written.map { " -> \(reference($0))" } ?? ""
      lines.append("state \(state.name): \(reference(state.read)): \(self[state.read].type)\(written)")
    }
    let used = Set(nodes.flatMap(\.inputs) + outputs)
    for (index, value) in values.enumerated() where value.weight != nil && used.contains(ValueID(index)) {
      lines.append("weight %\(value.name): \(value.type)")
    }
    for node in nodes {
      let results = node.outputs.map { "\(reference($0)): \(self[$0].type)" }.joined(separator: ", ")
      let attributes = node.op.attributes.map { " \($0.name)=\($0.value)" }.joined()
      let operands = node.inputs.map(reference).joined(separator: ", ")
      let origins = node.origins.map(\.name)
      let names =
        origins.isEmpty || origins == [node.name] ? "" : "  # \(node.name) from \(origins.joined(separator: " + "))"
      lines.append("\(results) = \(node.op.name)\(attributes)(\(operands))\(names)")
      for region in node.regions {
        let captured = region.captures.map { reference(node.inputs[$0]) }.joined(separator: ", ")
        let refusal = region.refusal.map { " refused: \($0)" } ?? ""
        lines.append("  \(region.role.rawValue)[\(captured)]\(refusal)")
        lines += region.graph.lines.map { "    " + $0 }
      }
    }
    lines.append("output \(outputs.map(reference).joined(separator: ", "))")
    return lines
  }

  private func reference(_ id: ValueID) -> String { "%\(self[id].name)" }
}
