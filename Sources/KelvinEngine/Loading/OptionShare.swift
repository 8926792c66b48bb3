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

  init(_ options: LoadOptions, _ graphs: [Graph?]) {
    self.options = options
    let planned = graphs.firstIndex { graph in
      guard let graph, let plan = options.plan else { return false }
      return ContentKey([graph.canonical]).description == plan.subject.graph
    }
    let works = graphs.map { graph in
      graph.map { graph in graph.nodes.reduce(0) { $0 + graph.work(of: $1).operations } } ?? -1
    }
    let largest = works.indices.filter { works[$0] >= 0 }.max { works[$0] < works[$1] }
    shown = planned ?? largest
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
