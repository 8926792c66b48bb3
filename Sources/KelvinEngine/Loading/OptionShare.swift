import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinRuntime

/// The assignment of options to a function's graphs: a plan is for one graph, and a pin names a node of one graph.
struct OptionShare {
  /// The index of the graph that plans and measurements describe; nil if no graph is known before the function runs.
  let shown: Int?
  private let options: LoadOptions
  /// The placed names by graph; nil if there is only one graph, which takes all options.
  private let names: [Set<String>]?
  private let planned: Int?
  private let parts: [GraphPart]
  private let passed: [PassedGraph?]

  /// - Parameter passed: the graphs by part; nil for a graph whose sizes depend on data and are unknown.
  /// - Throws: `invalidChoice` for a part that does not exist, or is unknown before the function runs; `invalidPlan`
  ///   for a plan of other graphs.
  init(_ options: LoadOptions, _ parts: [GraphPart], _ passed: [PassedGraph?]) throws(RuntimeError) {
    self.options = options
    self.parts = parts
    self.passed = passed
    let graphs = passed.map { $0?.passed.graph }
    let known = Set(parts.map(\.name))
    if let stranger = options.plan?.parts.first(where: { !known.contains($0.name) }) {
      throw .invalidPlan(
        "the plan is about a graph '\(stranger.name)', which the function does not have; it has "
          + "\(parts.map(\.name).joined(separator: ", ")); make a new one with 'kelvin plan --save'")
    }
    if let name = options.part {
      guard let index = parts.firstIndex(where: { $0.name == name }) else {
        let names = parts.map(\.name).joined(separator: ", ")
        throw .invalidChoice("the function has no graph '\(name)'; it has \(names.isEmpty ? "none" : names)")
      }
      guard graphs[index] != nil else {
        throw .invalidChoice(
          "the sizes of the graph '\(name)' depend on data: it cannot be planned before a prediction; "
            + "'plan' and 'profile' show it for the sizes of a sample run with --input")
      }
    }
    let planned = graphs.firstIndex { graph in
      guard let graph, let plan = options.plan, plan.parts.isEmpty else { return false }
      return ContentKey([graph.canonical]).description == plan.subject.graph
    }
    let works = graphs.map { graph in
      graph.map { graph in graph.nodes.reduce(0) { $0 + graph.work(of: $1).operations } } ?? -1
    }
    let largest = works.indices.filter { works[$0] >= 0 }.max { works[$0] < works[$1] }
    shown = options.part.flatMap { name in parts.firstIndex { $0.name == name } } ?? planned ?? largest
    self.planned = options.plan?.parts.isEmpty == false ? nil : planned ?? shown
    names = graphs.count == 1 ? nil : graphs.map { graph in Set(graph.map { FlatGraph($0).placedNames } ?? []) }
  }

  /// Returns the options for one graph. Pins that fit no graph are passed to the shown graph, which rejects them.
  func options(of index: Int) -> LoadOptions {
    var options = options
    if let plan = options.plan, !plan.parts.isEmpty {
      let isSampled = passed[index]?.sample != nil
      options.plan = isSampled ? sampledPlan(index) : plan.part(named: parts[index].name)
    }
    guard let names else { return options }
    if planned != nil, index != planned { options.plan = nil }
    options.request.pins = options.request.pins.filter { pin in
      names[index].contains(pin.key) || index == shown && !names.contains { $0.contains(pin.key) }
    }
    return options
  }

  private func sampledPlan(_ index: Int) -> Plan? {
    passed[index].flatMap { Self.plan(for: $0.types, of: $0.part, options) }
  }

  /// Returns the saved plan of a graph with data-dependent sizes, if it is valid for the given sizes.
  static func plan(for types: SlotTypes, of part: GraphPart, _ options: LoadOptions) -> Plan? {
    guard var plan = options.plan?.part(named: part.name), let saved = plan.parts.first,
      types.areServed(by: saved, isShared: options.sharesPlans)
    else { return nil }
    // The sizes may differ within the bucket.
    plan.subject.graph = ""
    return plan
  }
}
