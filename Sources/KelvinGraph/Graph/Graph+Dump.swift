extension Graph: CustomStringConvertible {
  /// The graph as text, one line for each input, weight and node; equal text means equal graphs up to weight contents.
  package var description: String {
    var lines: [String] = []
    for id in inputs { lines.append("input \(reference(id)): \(self[id].type)") }
    let used = Set(nodes.flatMap(\.inputs) + outputs)
    for (index, value) in values.enumerated() where value.weight != nil && used.contains(ValueID(index)) {
      lines.append("weight %\(value.name): \(value.type)")
    }
    for node in nodes {
      let results = node.outputs.map { "\(reference($0)): \(self[$0].type)" }.joined(separator: ", ")
      let attributes = node.op.attributes.map { " \($0.name)=\($0.value)" }.joined()
      let operands = node.inputs.map(reference).joined(separator: ", ")
      let origins = node.origins.map(\.name)
      let names = origins == [node.name] ? "" : "  # \(node.name) from \(origins.joined(separator: " + "))"
      lines.append("\(results) = \(node.op.name)\(attributes)(\(operands))\(names)")
    }
    lines.append("output \(outputs.map(reference).joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  private func reference(_ id: ValueID) -> String { "%\(self[id].name)" }
}
