import KelvinGraph
import KelvinPlanning
import KelvinRuntime

extension LoadOptions {
  /// Assigns the options to a function's graphs: a plan is for one graph, and a pin names a node of one graph. Pins that
  /// fit no graph are passed to the shown graph, which rejects them.
  ///
  /// - Parameters:
  ///   - graphs: the graphs by part; nil for a graph whose sizes depend on data and are unknown.
  ///   - parts: the function's graph parts.
  /// - Returns: the index of the graph that plans and measurements describe; nil if no graph is known before the
  ///   function runs.
  /// - Throws: `invalidChoice` for a part that does not exist, or is unknown before the function runs; `invalidPlan`
  ///   for a plan of other graphs.
  func share(among graphs: inout [LoadedGraph?], of parts: [GraphPart]) throws(RuntimeError) -> Int? {
    try check(graphs, parts)
    let isOfParts = plan?.parts.isEmpty == false
    let adopting = graphs.firstIndex { graph in
      !isOfParts && plan != nil && graph?.context.graphKey.description == plan?.subject.graph
    }
    let works = graphs.map { graph in
      graph.map { $0.context.graph }.map { graph in
        graph.nodes.reduce(0) { $0 + graph.work(of: $1).operations }
      } ?? -1
    }
    let largest = works.indices.filter { works[$0] >= 0 }.max { works[$0] < works[$1] }
    let shown = part.flatMap { name in parts.firstIndex { $0.name == name } } ?? adopting ?? largest
    let planned = isOfParts ? nil : adopting ?? shown
    let names = graphs.map { graph in Set(graph.map { FlatGraph($0.context.graph).placedNames } ?? []) }
    for (index, graph) in graphs.enumerated() {
      guard let graph else { continue }
      var own = self
      if isOfParts {
        own.plan =
          graph.sample == nil ? plan?.part(named: graph.part.name) : savedPlan(for: graph.types, of: graph.part)
      }
      if graphs.count > 1 {
        if planned != nil, index != planned { own.plan = nil }
        own.request.pins = request.pins.filter { pin in
          names[index].contains(pin.key) || index == shown && !names.contains { $0.contains(pin.key) }
        }
      }
      graphs[index]?.options = own
    }
    return shown
  }

  private func check(_ graphs: [LoadedGraph?], _ parts: [GraphPart]) throws(RuntimeError) {
    let known = parts.map(\.name)
    if let stranger = plan?.parts.first(where: { !known.contains($0.name) }) {
      throw .invalidPlan(
        "the plan is about a graph '\(stranger.name)', which the function does not have; it has "
          + "\(known.joined(separator: ", ")); make a new one with 'kelvin plan --save'")
    }
    guard let part else { return }
    guard let index = known.firstIndex(of: part) else {
      let names = known.joined(separator: ", ")
      throw .invalidChoice("the function has no graph '\(part)'; it has \(names.isEmpty ? "none" : names)")
    }
    guard graphs[index] != nil else {
      throw .invalidChoice(
        "the sizes of the graph '\(part)' depend on data: it cannot be planned before a prediction; "
          + "'plan' and 'profile' show it for the sizes of a sample run with --input")
    }
  }

  /// Returns the saved plan of a graph with data-dependent sizes, if it is valid for the given sizes.
  func savedPlan(for types: SlotTypes, of part: GraphPart) -> Plan? {
    guard var plan = plan?.part(named: part.name), let saved = plan.parts.first,
      types.areServed(by: saved, isShared: sharesPlans)
    else { return nil }
    // The sizes may differ within the bucket.
    plan.subject.graph = ""
    return plan
  }
}
