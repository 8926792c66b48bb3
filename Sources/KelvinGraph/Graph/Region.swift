/// A graph inside a node: what a fused node stands for, or a part of control flow.
///
/// A region reads nothing from outside but what its node reads: a captured value is an operand of the node, behind
/// those that the operator names, and an input of the region's graph, behind those that the operator supplies. Whoever
/// looks at a node's operands therefore sees all that it depends on. A constant is never captured: each region holds
/// its own reference to the weight.
package struct Region: Sendable {
  package enum Role: String, Sendable, Hashable, CaseIterable {
    /// What a fused node does, in unfused nodes. Its inputs and outputs are the node's, in order; it captures nothing.
    case fusion
    /// What a branch does where its condition holds, and where not.
    case then
    case otherwise = "else"
    /// One trip of a loop.
    case body

    /// Whether the runtime executes the region, node by node, as part of the model.
    package var isControl: Bool { self != .fusion }
  }

  package var role: Role
  package var graph: Graph
  /// The operands of the node that are the graph's last inputs, by position.
  package var captures: [Int]
  /// Why the region cannot run: what Kelvin lacks for it. Its graph is then empty, and taking it is an error.
  package var refusal: String?

  package init(role: Role, graph: Graph, captures: [Int] = [], refusal: String? = nil) {
    self.role = role
    self.graph = graph
    self.captures = captures
    self.refusal = refusal
  }
}

extension Node {
  /// What a fused node does, in unfused nodes. Its inputs and outputs are the node's, in order.
  package var body: Graph? {
    get { regions.first { $0.role == .fusion }?.graph }
    set {
      regions.removeAll { $0.role == .fusion }
      if let newValue { regions.append(Region(role: .fusion, graph: newValue)) }
    }
  }

  package func region(_ role: Region.Role) -> Region? { regions.first { $0.role == role } }

  /// Whether the runtime executes the node's regions, instead of a device the node.
  package var isControl: Bool { op is any ControlOperator }

  /// Whether the node does nothing but compute its results from its operands: it may then be folded, merged, dropped
  /// or moved.
  package var isPure: Bool {
    op.isPure && regions.allSatisfy { $0.refusal == nil && $0.graph.nodes.allSatisfy(\.isPure) }
  }
}

extension Graph {
  /// The graph with every region of its nodes, however deep, replaced: the one way to rewrite them.
  package func mappingRegions<Failure: Error>(
    _ transform: (Region, Node) throws(Failure) -> Graph
  ) throws(Failure) -> Graph {
    var graph = self
    for index in graph.nodes.indices {
      for number in graph.nodes[index].regions.indices {
        var region = graph.nodes[index].regions[number]
        region.graph = try region.graph.mappingRegions(transform)
        graph.nodes[index].regions[number].graph = try transform(region, graph.nodes[index])
      }
    }
    return graph
  }
}
