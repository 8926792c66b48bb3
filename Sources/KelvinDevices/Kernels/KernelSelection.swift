package import KelvinGraph

/// A kernel for each node of a segment, chosen among the device's offers to minimize layout conversions.
///
/// The first offer of a node determines its precision, and only offers of that precision are considered. A node's
/// neighbours therefore never change its precision.
package struct KernelSelection<Kernel> {
  package let expanded: ExpandedGraph
  /// The chosen offer for each node of the expanded graph.
  package internal(set) var offers: [KernelOffer<Kernel>]
  package let layouts: LayoutPlan

  package init(_ expanded: ExpandedGraph, _ offers: [[KernelOffer<Kernel>]]) {
    let alike = offers.map { offers in offers.filter { $0.precision == offers[0].precision } }
    layouts = LayoutPlan(
      expanded.graph, alike.map { $0.map { LayoutPlan.Implementation($0.layouts, extraCost: $0.extraCost) } })
    self.offers = zip(alike, layouts.choices).map { $0[$1] }
    self.expanded = expanded
  }

  package var graph: Graph { expanded.graph }

  /// The chosen kernels by the node of the original graph: `winograd 4x4`. A node computed by its body has the
  /// distinct kernels of the body's nodes.
  package var names: [String: String] {
    var names: [String: [String]] = [:]
    for (parent, offer) in zip(expanded.parents, offers) where names[parent]?.contains(offer.name) != true {
      names[parent, default: []].append(offer.name)
    }
    return names.mapValues { $0.joined(separator: ", ") }
  }
}
