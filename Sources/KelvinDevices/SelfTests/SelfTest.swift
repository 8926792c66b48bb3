package import KelvinGraph

/// Small nodes by which a device shows that its driver computes what kernels of one kind say.
package struct SelfTest: Sendable {
  /// Completes "self-test of …"; tells it apart from the others on every run.
  package let name: String
  /// The way (`KernelOffer.key`) whose kernels it tests and its nodes take, where a node may have others besides: what fails
  /// is that way alone. Nil for what every way of a node relies on.
  package var implementation: String?
  /// The operators whose nodes may need what it tests; none for all.
  let operators: [any Operator.Type]
  /// Whether such a node with these operands does.
  let covers: @Sendable (_ op: any Operator, _ operands: [TensorType]) -> Bool
  let nodes: [Entry]

  /// Operators are sendable; a tuple with one is not seen to be.
  struct Entry: Sendable {
    let op: any Operator
    let operands: [NodeExample.Operand]
    /// The way that the node takes where its self-test has none.
    var implementation: String?
  }

  /// Those that a node needs, whichever way it takes.
  package static func all(for op: any Operator, _ operands: [TensorType]) -> [SelfTest] {
    let own = byOperator[ObjectIdentifier(type(of: op))] ?? []
    return (own + general).filter { $0.covers(op, operands) }
  }

  /// Those that the nodes of a graph need on a device: of ways those that a node may take.
  ///
  /// - Parameter known: the names of others.
  package static func all(
    for graph: Graph, _ precision: Precision, _ family: any KernelFamily, but known: Set<String> = []
  ) -> [SelfTest] {
    let graph = family.expanded(graph, precision: precision).graph
    var names = known
    var tests: [SelfTest] = []
    for node in graph.nodes {
      let inputs = family.storedInputs(of: node, in: graph, precision: precision)
      for test in all(for: node.op, inputs) where !names.contains(test.name) {
        if let implementation = test.implementation, !family.implementations(of: node, in: graph, precision: precision).contains(implementation) { continue }
        names.insert(test.name)
        tests.append(test)
      }
    }
    return tests
  }

  private static let general = all.filter(\.operators.isEmpty)
  private static let byOperator = Dictionary(
    grouping: all.flatMap { test in test.operators.map { (ObjectIdentifier($0), test) } }, by: \.0
  ).mapValues { $0.map(\.1) }

  /// - Returns: the example of several of them at once, with whose nodes are whose; nodes that the device does not run are
  ///   left out.
  package static func example(
    of tests: [SelfTest], on device: any Device
  ) throws(OperatorError) -> (nodes: NodeExample, tests: [SelfTest]) {
    var entries: [NodeExample.Entry] = []
    var implementations: [String?] = []
    var owners: [SelfTest] = []
    for test in tests {
      for node in test.nodes {
        let graph = try NodeExample([(node.op, node.operands)]).graph
        guard device.support(for: graph.nodes[0], in: graph, precision: .full).isSupported else { continue }
        entries.append((node.op, node.operands))
        implementations.append(test.implementation ?? node.implementation)
        owners.append(test)
      }
    }
    return (try NodeExample(entries, implementations: implementations), owners)
  }
}
