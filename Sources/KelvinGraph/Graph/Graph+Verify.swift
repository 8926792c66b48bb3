extension Graph {
  /// Checks every rule a graph must keep: addresses in range, unique names, one writer for each value and that before
  /// its readers, types as the operators infer them, weights of the declared type, bodies that fit their nodes.
  ///
  /// - Throws: the first broken rule, naming the node.
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
      if let body = node.body {
        guard body.types(body.inputs) == types(node.inputs), body.types(body.outputs) == types(node.outputs) else {
          throw GraphError(place, "its body does not have its inputs and outputs")
        }
        try body.verify()
      }
    }
    for output in outputs where !isDefined[output.index] {
      throw GraphError("output '\(self[output].name)'", "is never computed")
    }
  }
}
