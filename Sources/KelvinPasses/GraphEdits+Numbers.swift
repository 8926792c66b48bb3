import KelvinGraph

extension GraphEdits {
  /// What a node multiplies by a constant number, and the number.
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

  /// A constant of one element.
  func number(_ id: ValueID) -> Double? {
    guard let weight = weight(id), weight.type.count == 1 else { return nil }
    return weight.dense().doubles[0]
  }
}
