package import KelvinGraph

/// Small nodes whose results show whether a driver computes one kind of kernel correctly.
package struct SelfTest: Sendable {
  /// Completes "self-test of …"; identifies the test, equal on every run.
  package let name: String
  /// The implementation (`KernelOffer.key`) that it tests and that its nodes use. If it fails, only this
  /// implementation is excluded. Nil for a test that all implementations of a node rely on.
  package var implementation: String?
  /// The precision at which devices have the implementation.
  package var precision = Precision.full
  /// The operators whose nodes may need the test; empty for all.
  let operators: [any Operator.Type]
  /// Whether a node of these operators with these operands needs the test.
  let covers: @Sendable (_ op: any Operator, _ operands: [TensorType]) -> Bool
  let nodes: [Entry]

  /// A struct because a tuple of an operator is not inferred to be sendable.
  struct Entry: Sendable {
    let op: any Operator
    let operands: [NodeExample.Operand]
    /// The node's implementation, if its self-test has none.
    var implementation: String?
  }

  /// Returns the tests that a node needs, for all implementations.
  package static func all(for op: any Operator, _ operands: [TensorType]) -> [SelfTest] {
    let own = byOperator[ObjectIdentifier(type(of: op))] ?? []
    return (own + general).filter { $0.covers(op, operands) }
  }

  /// Returns the tests that the nodes of a graph need on a device, limited to implementations that a node may use.
  ///
  /// - Parameter known: the names of tests to leave out.
  package static func all(
    for graph: Graph, _ precision: Precision, _ family: any KernelFamily, but known: Set<String> = []
  ) -> [SelfTest] {
    let graph = family.expanded(graph, precision: precision).graph
    var names = known
    var tests: [SelfTest] = []
    for node in graph.nodes {
      let inputs = family.storedInputs(of: node, in: graph, precision: precision)
      for test in all(for: node.op, inputs) where !names.contains(test.name) {
        if let implementation = test.implementation,
          !family.implementations(of: node, in: graph, precision: precision).contains(implementation)
        {
          continue
        }
        names.insert(test.name)
        tests.append(test)
      }
    }
    return tests
  }

  /// Returns the test with floating-point operands of another type, which have kernels of their own where float16 is
  /// stored as float16.
  func of(_ scalar: ScalarType) -> SelfTest {
    SelfTest(
      name: scalar == .float32 ? name : "\(name) of \(scalar.rawValue)", implementation: implementation,
      precision: precision, operators: operators,
      covers: { [covers] op, operands in
        operands.contains { $0.scalar == .float16 } == (scalar == .float16) && covers(op, operands)
      },
      nodes: nodes.map {
        Entry(op: $0.op, operands: $0.operands.map { $0.of(scalar) }, implementation: $0.implementation)
      })
  }

  private static let general = all.filter(\.operators.isEmpty)
  private static let byOperator = Dictionary(
    grouping: all.flatMap { test in test.operators.map { (ObjectIdentifier($0), test) } }, by: \.0
  ).mapValues { $0.map(\.1) }

  /// Joins several tests into one example; nodes that the device does not support are left out. To be run as they are
  /// meant, all tests must have the same precision.
  ///
  /// - Returns: the example, and the test that each of its nodes belongs to.
  package static func example(
    of tests: [SelfTest], on device: any Device
  ) throws(OperatorError) -> (nodes: NodeExample, tests: [SelfTest]) {
    var entries: [NodeExample.Entry] = []
    var implementations: [String?] = []
    var owners: [SelfTest] = []
    for test in tests {
      for node in test.nodes {
        let graph = try NodeExample([(node.op, node.operands)]).graph
        guard device.support(for: graph.nodes[0], in: graph, precision: test.precision).isSupported else { continue }
        entries.append((node.op, node.operands))
        implementations.append(test.implementation ?? node.implementation)
        owners.append(test)
      }
    }
    return (try NodeExample(entries, implementations: implementations), owners)
  }
}
