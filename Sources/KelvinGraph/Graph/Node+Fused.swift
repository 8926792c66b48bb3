/// An operator with an `Epilogue`, which is applied to its results.
package protocol FusedOperator: Operator {
  var epilogue: Epilogue { get set }
}

extension Convolution: FusedOperator {}
extension Linear: FusedOperator {}

extension Node {
  /// Returns a node for an operator with an epilogue. If the epilogue is a fusion, the node has an unfused body.
  ///
  /// - Parameter types: The types of the inputs.
  /// - Throws: `GraphError` if the operator does not support these inputs.
  package static func fused(
    name: String, op: some FusedOperator, inputs: [ValueID], types: [TensorType], output: ValueID, origins: [Origin]
  ) throws(GraphError) -> Node {
    var node = Node(name: name, op: op, inputs: inputs, outputs: [output], origins: origins)
    if op.epilogue.isFused { node.body = try unfused(op, types, name: name) }
    return node
  }

  /// Returns a graph of the operator with at most a bias, followed by the addition of the residual and by the
  /// activation.
  private static func unfused(
    _ op: some FusedOperator, _ types: [TensorType], name: String
  ) throws(GraphError) -> Graph {
    var body = Graph(bodyOf: types)
    var operands = body.inputs
    let residual = op.epilogue.addsResidual ? operands.removeLast() : nil
    var plain = op
    plain.epilogue = Epilogue(hasBias: op.epilogue.hasBias)
    let type: TensorType
    do { type = try plain.infer(body.types(operands))[0] } catch {
      throw GraphError("\(op.name) '\(name)'", error.description)
    }
    var result = body.append(plain, operands, "product", type)
    if let residual { result = body.append(Binary(.add), [result, residual], "sum", type) }
    if let activation = op.epilogue.activation { result = body.append(Unary(activation), [result], "activation", type) }
    body.outputs = [result]
    return body
  }
}
