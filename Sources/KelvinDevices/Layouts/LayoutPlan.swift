package import KelvinGraph

/// The kernel of each node of a segment and the layout conversions, chosen to move the fewest elements.
///
/// The plan is a pure function of the graph, and of each kernel's layouts and extra cost. Values enter and leave a
/// segment dense. A converted value remains available in the new layout for later readers. Costs are counted in
/// elements moved.
package struct LayoutPlan: Hashable, Sendable {
  /// The properties of a kernel that the plan depends on.
  package struct Implementation: Hashable, Sendable {
    package var layouts: KernelLayouts
    /// The extra cost over the node's best kernel, in elements moved.
    package var extraCost: Double

    package init(_ layouts: KernelLayouts = .dense, extraCost: Double = 0) {
      self.layouts = layouts
      self.extraCost = extraCost
    }
  }

  /// A conversion of a value from a layout that it has to another.
  package struct Conversion: Hashable, Sendable {
    package var value: ValueID
    package var from: ValueLayout
    package var to: ValueLayout
    /// The index of the node that the conversion belongs to: the first node that reads the new layout. For an output
    /// it is the producer, and the conversion follows it.
    package var node: Int
    package var isAfter: Bool
  }

  /// For each node, the index of its kernel among the given ones.
  package let choices: [Int]
  /// The conversions in execution order. Conversions between coinciding layouts are included, at no cost.
  package let conversions: [Conversion]
  package let cost: Double

  /// The cost of starting one more kernel, in elements moved.
  package static let startCost = 4096.0

  /// Returns the cost of a conversion, in elements moved.
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

  /// Returns the conversions that follow from the choices.
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
