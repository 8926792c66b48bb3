/// A graph inside a node: the body of a fused node, or a part of control flow.
///
/// A region reads only operands of its node. A captured value is an operand of the node, after the operator's own
/// operands, and an input of the region's graph, after the inputs that the operator supplies. The operands of a node
/// are therefore all its dependencies.
///
/// Constants are never captured: each region holds its own reference to the weight.
package struct Region: Sendable {
  package enum Role: String, Sendable, Hashable, CaseIterable {
    /// The computation of a fused node by unfused nodes. Its inputs and outputs are the node's, in order; it has no
    /// captures.
    case fusion
    /// The side of a branch that runs if its condition holds; `otherwise` is the other side.
    case then
    case otherwise = "else"
    /// One iteration of a loop.
    case body

    /// Whether the runtime executes the region, node by node, as part of the model.
    package var isControl: Bool { self != .fusion }
  }

  package var role: Role
  package var graph: Graph { didSet { isPure = Self.isPure(graph, refusal) } }
  /// The indices of the node's operands that are the graph's last inputs.
  package var captures: [Int]
  /// The reason why the region cannot run, such as unsupported operations; nil if it can. The graph of such a region is
  /// empty, and running it is an error.
  package var refusal: String? { didSet { isPure = Self.isPure(graph, refusal) } }
  /// Whether the region can run and all its nodes are pure. Computed once when the graph is set, so that queries do not
  /// traverse it.
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
  /// The computation of a fused node by unfused nodes. Its inputs and outputs are the node's, in order.
  package var body: Graph? {
    get { regions.first { $0.role == .fusion }?.graph }
    set {
      regions.removeAll { $0.role == .fusion }
      if let newValue { regions.append(Region(role: .fusion, graph: newValue)) }
    }
  }

  package func region(_ role: Region.Role) -> Region? { regions.first { $0.role == role } }

  /// Whether the runtime executes the node's regions, as opposed to a device that executes the node.
  package var isControl: Bool { op is any ControlOperator }

  /// Whether the node only computes its results from its operands; a pure node may be folded, merged, removed or moved.
  package var isPure: Bool { op.isPure && regions.allSatisfy(\.isPure) }
}

extension Graph {
  /// Returns the graph with replaced regions of its nodes at any depth, inner ones first. All rewriting of regions uses
  /// this function.
  ///
  /// - Parameter transform: Returns the new graph of a region, or nil to keep it.
  /// - Returns: Nil if all regions are kept; nothing is copied then.
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
