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
  package var graph: Graph { didSet { isPure = Self.isPure(graph, refusal) } }
  /// The operands of the node that are the graph's last inputs, by position.
  package var captures: [Int]
  /// Why the region cannot run: what Kelvin lacks for it. Its graph is then empty, and taking it is an error.
  package var refusal: String? { didSet { isPure = Self.isPure(graph, refusal) } }
  /// Whether it can run and all its nodes are pure. Known from when the graph was given, so that whoever asks a node does not
  /// go through all that lies in it.
  package private(set) var isPure: Bool

  package init(role: Role, graph: Graph, captures: [Int] = [], refusal: String? = nil) {
    self.role = role
    self.graph = graph
    self.captures = captures
    self.refusal = refusal
    isPure = Self.isPure(graph, refusal)
  }

  private static func isPure(_ graph: Graph, _ refusal: String?) -> Bool {
    refusal == nil && graph.nodes.allSatisfy(\.isPure)
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
  package var isPure: Bool { op.isPure && regions.allSatisfy(\.isPure) }
}

extension Graph {
  /// The graph with regions of its nodes, however deep, replaced, those inside them first: the one way to rewrite them.
  ///
  /// - Parameter transform: another graph for a region; nil leaves it as it is.
  /// - Returns: nil where every region stays, so that nothing was copied.
  package func mappingRegions<Failure: Error>(
    _ transform: (Region, Node) throws(Failure) -> Graph?
  ) throws(Failure) -> Graph? {
    var changed: Graph?
    for index in nodes.indices where !nodes[index].regions.isEmpty {
      for number in nodes[index].regions.indices {
        var region = nodes[index].regions[number]
        let inner = try region.graph.mappingRegions(transform)
        if let inner { region.graph = inner }
        guard let new = try transform(region, nodes[index]) ?? inner else { continue }
        if changed == nil { changed = self }
        changed?.nodes[index].regions[number].graph = new
      }
    }
    return changed
  }
}
