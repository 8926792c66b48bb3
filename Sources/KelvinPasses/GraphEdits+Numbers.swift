import KelvinGraph

extension GraphEdits {
  /// Returns the operand and the factor of a node that multiplies by a constant number, or nil.
  func scaling(_ node: Node) -> (ValueID, Double)? {
    if let unary = node.op as? Unary, unary.function.kind == .affine, unary.function.b == 0 {
      return (node.inputs[0], Double(unary.function.a))
    }
    guard let binary = node.op as? Binary else { return nil }
    switch binary.function {
    case .multiply:
      if let number = number(node.inputs[1]) { return (node.inputs[0], number) }
      return number(node.inputs[0]).map { (node.inputs[1], $0) }
    case .divide: return number(node.inputs[1]).map { (node.inputs[0], 1 / $0) }
    default: return nil
    }
  }

  /// Returns the number of a constant with one element, or nil.
  func number(_ id: ValueID) -> Double? {
    guard let weight = weight(id), weight.type.count == 1 else { return nil }
    return weight.dense().doubles[0]
  }
}
