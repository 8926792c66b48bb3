package import KelvinGraph

/// Which of its kernels runs each node of a segment, and where values are brought to another layout, so that what is
/// moved is least.
///
/// A pure function of the graph and of what each kernel reads, writes and costs over the node's best. Values enter a
/// segment dense, and leave it so. A value that is brought to another layout stays there for later readers. Costs are
/// counted in elements moved.
package struct LayoutPlan: Hashable, Sendable {
  /// A kernel as the plan sees it.
  package struct Implementation: Hashable, Sendable {
    package var layouts: KernelLayouts
    /// What it costs more than the best kernel of the node, in elements moved.
    package var handicap: Double

    package init(_ layouts: KernelLayouts = .dense, handicap: Double = 0) {
      self.layouts = layouts
      self.handicap = handicap
    }
  }

  /// A value brought from a layout in which it lies to another.
  package struct Conversion: Hashable, Sendable {
    package var value: ValueID
    package var from: ValueLayout
    package var to: ValueLayout
    /// The position of the node that it counts for: the first that reads it so, or of an output that lies otherwise the
    /// one that made it, after which it happens.
    package var node: Int
    package var isAfter: Bool
  }

  /// For each node, the position of its kernel among those given.
  package let choices: [Int]
  /// In the order in which they happen. Layouts that coincide are converted too, at no cost.
  package let conversions: [Conversion]
  package let cost: Double

  /// What starting one more kernel costs, in elements moved.
  package static let startCost = 4096.0

  /// What a conversion costs.
  package static func cost(_ shape: Shape, from: ValueLayout, to: ValueLayout) -> Double {
    if from.coincides(with: to, shape) { return 0 }
    let passes = from == .dense || to == .dense ? 1.0 : 2.0
    return passes * startCost + Double(max(from.count(of: shape), to.count(of: shape))) * passes
  }

  /// - Parameter implementations: the kernels of each node, at least one, best first.
  package init(_ graph: Graph, _ implementations: [[Implementation]]) {
    var search = LayoutSearch(graph)
    for (index, implementations) in implementations.enumerated() { search.advance(index, implementations) }
    let best = search.best
    choices = best.choices
    cost = best.cost
    conversions = Self.conversions(graph, zip(implementations, choices).map { $0[$1].layouts })
  }

  /// The conversions that follow from the choices.
  private static func conversions(_ graph: Graph, _ layouts: [KernelLayouts]) -> [Conversion] {
    var places: [ValueID: [ValueLayout]] = [:]
    for id in graph.inputs { places[id] = [.dense] }
    var conversions: [Conversion] = []
    func bring(_ id: ValueID, to layout: ValueLayout, node: Int, isAfter: Bool) {
      guard let held = places[id], !held.contains(layout) else { return }
      let shape = graph[id].type.shape
      let nearest = held.min { cost(shape, from: $0, to: layout) < cost(shape, from: $1, to: layout) }
      guard let nearest else { return }
      conversions.append(Conversion(value: id, from: nearest, to: layout, node: node, isAfter: isAfter))
      places[id]?.append(layout)
    }
    let outputs = Set(graph.outputs)
    for (index, node) in graph.nodes.enumerated() {
      for (position, input) in node.inputs.enumerated() {
        bring(input, to: layouts[index].read(position), node: index, isAfter: false)
      }
      for (position, output) in node.outputs.enumerated() {
        places[output] = [layouts[index].write(position)]
        if outputs.contains(output) { bring(output, to: .dense, node: index, isAfter: true) }
      }
    }
    return conversions
  }
}
