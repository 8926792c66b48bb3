extension Graph {
  /// Creates the beginning of a node's body: inputs without nodes.
  package init(bodyOf types: [TensorType]) {
    self.init()
    inputs = types.enumerated().map { addValue(Value(name: "in\($0)", type: $1)) }
  }

  package mutating func constant(_ name: String, _ weight: Weight) -> ValueID {
    addValue(Value(name: name, type: weight.type, weight: weight))
  }

  /// Appends a node with one output of a known type.
  package mutating func append(
    _ op: any Operator, _ operands: [ValueID], _ name: String, _ type: TensorType
  ) -> ValueID {
    let output = addValue(Value(name: name, type: type))
    nodes.append(Node(name: name, op: op, inputs: operands, outputs: [output], origins: []))
    return output
  }

  /// Appends a node with one output.
  ///
  /// - Throws: `GraphError` if the operator does not support its operands.
  package mutating func append(
    _ op: any Operator, _ operands: [ValueID], _ name: String
  ) throws(GraphError) -> ValueID {
    let type: TensorType
    do { type = try op.infer(types(operands))[0] } catch {
      throw GraphError("\(op.name) '\(name)'", error.description)
    }
    return append(op, operands, name, type)
  }
}
