import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Which of a function's graphs an option is about: a plan is for one of them, a pin names a node of one.
struct OptionShare {
  /// The graph that plans and measurements are about; nil where none is known before the function runs.
  let shown: Int?
  private let options: LoadOptions
  /// By graph; nil where there is only one, which takes all options.
  private let names: [Set<String>]?
  private let planned: Int?

  /// - Parameter graphs: by part; nil where the sizes of one depend on data.
  /// - Throws: `invalidChoice` for a part that there is not, or that is not known before the function runs.
  init(_ options: LoadOptions, _ parts: [GraphPart], _ graphs: [Graph?]) throws(RuntimeError) {
    self.options = options
    if let name = options.part {
      guard let index = parts.firstIndex(where: { $0.name == name }) else {
        let names = parts.map(\.name).joined(separator: ", ")
        throw .invalidChoice("the function has no graph '\(name)'; it has \(names.isEmpty ? "none" : names)")
      }
      guard graphs[index] != nil else {
        throw .invalidChoice(
          "the sizes of the graph '\(name)' depend on data: there is nothing to plan before a prediction")
      }
    }
    let planned = graphs.firstIndex { graph in
      guard let graph, let plan = options.plan else { return false }
      return ContentKey([graph.canonical]).description == plan.subject.graph
    }
    let works = graphs.map { graph in
      graph.map { graph in graph.nodes.reduce(0) { $0 + graph.work(of: $1).operations } } ?? -1
    }
    let largest = works.indices.filter { works[$0] >= 0 }.max { works[$0] < works[$1] }
    shown = options.part.flatMap { name in parts.firstIndex { $0.name == name } } ?? planned ?? largest
    self.planned = planned ?? shown
    names = graphs.count == 1 ? nil : graphs.map { graph in Set(graph.map { FlatGraph($0).placedNames } ?? []) }
  }

  /// The options as they are for one graph. What fits none of them is left to the shown one, which refuses it.
  func options(of index: Int) -> LoadOptions {
    guard let names else { return options }
    var options = options
    if index != planned { options.plan = nil }
    options.request.pins = options.request.pins.filter { pin in
      names[index].contains(pin.key) || index == shown && !names.contains { $0.contains(pin.key) }
    }
    return options
  }
}
