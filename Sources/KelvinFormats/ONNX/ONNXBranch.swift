import KelvinGraph

extension ONNXGraphSource {
  private static let branchLimit = 16

  /// Writes the branch of an `If` that its condition takes, which must be known while the graph is built: exporters leave
  /// such nodes where they ask for a size. A branch reads the values around it; its own are its own.
  func addBranch(
    of node: ONNXNode, depth: Int, _ emitter: inout Emitter, _ values: inout [String: ValueID]
  ) throws {
    let place = "If '\(node.name)'"
    guard depth < Self.branchLimit else { throw GraphError(place, "branches are nested too deeply") }
    guard let name = node.inputs.first else { throw GraphError(place, "has no condition") }
    let condition = try value(name, &emitter, &values, reader: place, offset: node.offset)
    guard let known = try emitter.number(condition) else {
      throw FormatError(
        .unsupported, file: file, place: place, offset: node.offset, "its condition depends on the input's values",
        remedy: "simplify the model so that it is constant")
    }
    let attribute = known != 0 ? "then_branch" : "else_branch"
    guard let message = node.attributes[attribute]?.graphs.first else { throw GraphError(place, "has no \(attribute)") }
    let branch = try ONNXGraph(message)
    var own: [String] = []
    for (name, initializer) in branch.initializers.sorted(by: { $0.key < $1.key }) {
      let id = emitter.constant(named: name, Weight(try initializer.read(files)))
      guard values.updateValue(id, forKey: name) == nil else {
        throw GraphError(place, "its branch defines '\(name)', which is there already")
      }
      own.append(name)
    }
    for inner in branch.nodes {
      try add(inner, depth: depth + 1, &emitter, &values)
      own += inner.outputs.filter { !$0.isEmpty }
    }
    guard branch.outputs.count == node.outputs.count else {
      throw GraphError(place, "its branch has \(branch.outputs.count) outputs, expected \(node.outputs.count)")
    }
    var results: [ValueID] = []
    for output in branch.outputs {
      results.append(try value(output.name, &emitter, &values, reader: place, offset: output.offset))
    }
    for name in own { values[name] = nil }
    try define(node, results, &values)
  }
}
