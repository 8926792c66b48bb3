/// An operator that a device without its kernel runs as other operators.
package protocol DecomposableOperator: Operator {
  /// Returns a graph of other operators with the same result; nil if every device has a kernel for these attributes.
  ///
  /// - Parameter types: The types of the inputs.
  /// - Throws: `GraphError` if the operator does not support these inputs.
  func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph?
}

/// An operator with an `Epilogue`, which is applied to its results.
package protocol FusedOperator: DecomposableOperator {
  var epilogue: Epilogue { get set }
}

extension Convolution: FusedOperator {}
extension Linear: FusedOperator {}

extension Node {
  /// Returns a node for an operator, with its decomposition as body.
  ///
  /// - Parameter types: The types of the inputs.
  /// - Throws: `GraphError` if the operator does not support these inputs.
  package static func decomposable(
    name: String, op: some DecomposableOperator, inputs: [ValueID], types: [TensorType], output: ValueID,
    origins: [Origin]
  ) throws(GraphError) -> Node {
    var node = Node(name: name, op: op, inputs: inputs, outputs: [output], origins: origins)
    do { node.body = try op.decomposition(types) } catch {
      throw GraphError("\(op.name) '\(name)'", error.reason)
    }
    return node
  }
}

extension FusedOperator {
  /// Returns a graph of the operator with at most a bias, followed by the addition of the residual and by the
  /// activation.
  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    guard epilogue.isFused else { return nil }
    var body = Graph(bodyOf: types)
    var operands = body.inputs
    let residual = epilogue.addsResidual ? operands.removeLast() : nil
    var plain = self
    plain.epilogue = Epilogue(hasBias: epilogue.hasBias)
    var result = try body.append(plain, operands, "product")
    let type = body[result].type
    if let residual { result = body.append(Binary(.add), [result, residual], "sum", type) }
    if let activation = epilogue.activation { result = body.append(Unary(activation), [result], "activation", type) }
    body.outputs = [result]
    return body
  }
}
