extension Graph {
  /// Checks every invariant of a graph. Indices are in range, and names are unique. Each value has one writer, which
  /// precedes its readers. Types match the operators' inference, weights have the declared types, and regions match
  /// their nodes.
  ///
  /// Names are unique within each graph; a region may use names of the graph around it.
  ///
  /// - Throws: An error about the first violated invariant that names the node.
  package func verify() throws(GraphError) {
    func check(_ ids: [ValueID], _ place: String) throws(GraphError) {
      for id in ids where !values.indices.contains(id.index) {
        throw GraphError(place, "refers to value \(id.index), of \(values.count)")
      }
    }
    try check(inputs, "graph inputs")
    try check(outputs, "graph outputs")
    var names = Set<String>()
    for value in values where !names.insert(value.name).inserted {
      throw GraphError("value '\(value.name)'", "the name is used twice")
    }
    var isDefined = values.map { $0.weight != nil }
    for value in values {
      guard value.type.shape.isAddressable else {
        throw GraphError("value '\(value.name)'", "\(value.type) is too large")
      }
      if let weight = value.weight, weight.type != value.type {
        throw GraphError("value '\(value.name)'", "declared \(value.type), its weight is \(weight.type)")
      }
    }
    for input in inputs {
      guard !isDefined[input.index] else { throw GraphError("input '\(self[input].name)'", "is defined twice") }
      isDefined[input.index] = true
    }
    var stateNames = Set<String>()
    for state in states {
      let place = "state '\(state.name)'"
      guard stateNames.insert(state.name).inserted else { throw GraphError(place, "the name is used twice") }
      try check([state.read] + (state.written.map { [$0] } ?? []), place)
      guard !isDefined[state.read.index] else {
        throw GraphError(place, "reads a value that differs from its definition")
      }
      isDefined[state.read.index] = true
      if let written = state.written, self[written].type != self[state.read].type {
        throw GraphError(place, "holds \(self[state.read].type), is left with \(self[written].type)")
      }
    }
    var nodeNames = Set<String>()
    for node in nodes {
      let place = "\(node.op.name) '\(node.name)'"
      guard nodeNames.insert(node.name).inserted else { throw GraphError(place, "the name is used twice") }
      try check(node.inputs + node.outputs, place)
      for input in node.inputs where !isDefined[input.index] {
        throw GraphError(place, "reads '\(self[input].name)' before it is computed")
      }
      let inferred: [TensorType]
      do { inferred = try node.op.infer(types(node.inputs)) } catch { throw GraphError(place, error.description) }
      guard inferred == types(node.outputs) else {
        throw GraphError(place, "computes \(inferred), its outputs are declared \(types(node.outputs))")
      }
      for output in node.outputs {
        guard !isDefined[output.index] else { throw GraphError(place, "writes '\(self[output].name)' a second time") }
        isDefined[output.index] = true
      }
      try verifyRegions(of: node, place)
    }
    for output in outputs where !isDefined[output.index] {
      throw GraphError("output '\(self[output].name)'", "is never computed")
    }
    for state in states {
      if let written = state.written, !isDefined[written.index] {
        throw GraphError("state '\(state.name)'", "is left with '\(self[written].name)', which is never computed")
      }
    }
    try verifyExtents()
  }

  private func verifyRegions(of node: Node, _ place: String) throws(GraphError) {
    if let body = node.body {
      guard body.types(body.inputs) == types(node.inputs), body.types(body.outputs) == types(node.outputs) else {
        throw GraphError(place, "its body does not have its inputs and outputs")
      }
      try body.verify()
    }
    let control = node.regions.filter(\.role.isControl)
    guard let op = node.op as? any ControlOperator else {
      guard control.isEmpty else { throw GraphError(place, "has regions that nothing executes") }
      return
    }
    guard control.map(\.role) == op.roles else {
      throw GraphError(place, "expected the regions \(op.roles), got \(control.map(\.role))")
    }
    for region in control where region.refusal == nil {
      let graph = region.graph
      guard graph.states.isEmpty, graph.extents.isEmpty else {
        throw GraphError(place, "its \(region.role.rawValue) region has states or outputs of counted size")
      }
      guard region.captures.allSatisfy({ (op.ownOperandCount..<node.inputs.count).contains($0) }) else {
        throw GraphError(
          place, "its \(region.role.rawValue) region captures \(region.captures) of \(node.inputs.count)")
      }
      let captured = region.captures.map { node.inputs[$0] }
      let signature: (inputs: [TensorType], outputs: [TensorType])
      do {
        signature = try op.signature(of: region.role, operands: Array(types(node.inputs).prefix(op.ownOperandCount)))
      } catch { throw GraphError(place, error.description) }
      let expected = signature.inputs + types(captured)
      guard graph.types(graph.inputs) == expected, graph.types(graph.outputs) == signature.outputs else {
        throw GraphError(
          place,
          "its \(region.role.rawValue) region takes \(graph.types(graph.inputs)) and gives "
            + "\(graph.types(graph.outputs)), expected \(expected) and \(signature.outputs)")
      }
      try graph.verify()
    }
  }
}
