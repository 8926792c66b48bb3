import KelvinGraph

/// A comparison of the nodes that compute a value with those of a template, from the result back to its inputs.
struct TemplateMatch {
  private let template: Graph
  private let producers: [Int?]
  /// The graph's value for each value of the template that has been compared.
  private var values: [ValueID: ValueID] = [:]
  /// The indices of the graph's nodes that the template has too.
  private(set) var nodes: Set<Int> = []

  /// Compares a value with the template's output. Operands of sums and products may have either order, and constants
  /// are compared by their elements.
  ///
  /// - Parameter inputs: The graph's values for the template's inputs, which have the same types.
  /// - Returns: Nil if a node differs.
  init?(_ value: ValueID, _ template: Graph, inputs: [ValueID], _ edits: GraphEdits) {
    self.template = template
    producers = template.producers()
    for (place, input) in zip(template.inputs, inputs) { values[place] = edits.resolve(input) }
    guard matches(value, template.outputs[0], edits) else { return nil }
  }

  private mutating func matches(_ value: ValueID, _ pattern: ValueID, _ edits: GraphEdits) -> Bool {
    let value = edits.resolve(value)
    if let known = values[pattern] { return known == value }
    if let weight = template[pattern].weight {
      return edits.weight(value).map { $0.type == weight.type && $0.dense() == weight.dense() } ?? false
    }
    guard let place = producers[pattern.index], let index = edits.producer(of: value), let node = edits.node(index),
      AnyHashable(node.op) == AnyHashable(template.nodes[place].op), node.regions.isEmpty,
      node.inputs.count == template.nodes[place].inputs.count
    else { return false }
    let (patterns, before) = (template.nodes[place].inputs, self)
    for operands in isCommutative(node.op) ? [node.inputs, node.inputs.reversed()] : [node.inputs] {
      self = before
      guard zip(operands, patterns).allSatisfy({ matches($0, $1, edits) }) else { continue }
      values[pattern] = value
      nodes.insert(index)
      return true
    }
    return false
  }

  private func isCommutative(_ op: any Operator) -> Bool {
    guard let function = (op as? Binary)?.function else { return false }
    return [.add, .multiply, .maximum, .minimum].contains(function)
  }
}
