package import KelvinGraph

/// A kernel for each node of a segment, taken from what the device offers so that neighbours agree on layouts.
///
/// The first offer of a node decides in what precision it is computed, and only offers that reach the same are looked
/// at: which neighbours a node has never changes how exact it is.
package struct KernelSelection<Kernel> {
  package let expanded: ExpandedGraph
  /// For each node of the expanded graph.
  package internal(set) var offers: [KernelOffer<Kernel>]
  package let layouts: LayoutPlan

  package init(_ expanded: ExpandedGraph, _ offers: [[KernelOffer<Kernel>]]) {
    let alike = offers.map { offers in offers.filter { $0.precision == offers[0].precision } }
    layouts = LayoutPlan(
      expanded.graph, alike.map { $0.map { LayoutPlan.Implementation($0.layouts, handicap: $0.handicap) } })
    self.offers = zip(alike, layouts.choices).map { $0[$1] }
    self.expanded = expanded
  }

  package var graph: Graph { expanded.graph }

  /// The kernels taken, by the node of the original graph: `winograd 4x4`. Of a node that is computed by its body those of
  /// its nodes, each once.
  package var names: [String: String] {
    var names: [String: [String]] = [:]
    for (parent, offer) in zip(expanded.parents, offers) where names[parent]?.contains(offer.name) != true {
      names[parent, default: []].append(offer.name)
    }
    return names.mapValues { $0.joined(separator: ", ") }
  }
}
