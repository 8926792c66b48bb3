import KelvinGraph

/// A cache of a function: an input whose value is an output of the previous prediction.
package struct CarriedCache: Hashable, Sendable {
  package let past: String
  package let present: String
  /// The axis along which the output has more rows than the input, which takes the last ones; nil for equal sizes.
  package let axis: Int?

  package init(past: String, present: String, axis: Int?) {
    (self.past, self.present, self.axis) = (past, present, axis)
  }
}

extension Function {
  /// Returns the function with a state in place of the input and output of each cache. The state has the input's name.
  ///
  /// - Returns: nil if the function is not a single graph of known sizes, or has states.
  func carrying(_ caches: [CarriedCache]) -> Function? {
    let (pasts, presents) = (Set(caches.map(\.past)), Set(caches.map(\.present)))
    guard case .graph(var part)? = parts.first, parts.count == 1, part.valueDependent.isEmpty,
      pasts.count == caches.count, presents.count == caches.count, pasts.isSubset(of: part.inputs),
      presents.allSatisfy({ name in part.outputs.count { $0 == name } == 1 }),
      !inputs.contains(where: { if case .state = $0.type { true } else { false } })
    else { return nil }
    // The slots of the caches stay among the part's inputs, since the graph is built for their sizes.
    part.source = CarryingSource(source: part.source, caches: caches, outputs: part.outputs)
    part.outputs.removeAll(where: presents.contains)
    var carrying = self
    carrying.inputs.removeAll { pasts.contains($0.name) }
    carrying.outputs.removeAll { presents.contains($0.name) }
    carrying.parts = [.graph(part)]
    (carrying.runningOnHost, carrying.overriding) = (nil, nil)
    return carrying
  }
}

/// A source of graphs with a state for each cache.
private struct CarryingSource: GraphSource {
  let source: any GraphSource
  let caches: [CarriedCache]
  /// The slots of the source's outputs.
  let outputs: [String]

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    var graph = try source.graph(shapes: shapes, computed: computed, evaluator: evaluator)
    guard graph.extents.isEmpty else { throw GraphError("the graph", "has outputs of data-dependent size") }
    let values = Dictionary(zip(outputs, graph.outputs)) { first, _ in first }
    for cache in caches {
      guard let read = graph.inputs.first(where: { graph[$0].name == cache.past }), let present = values[cache.present]
      else { throw GraphError("input '\(cache.past)'", "the graph has no input and output of this cache") }
      let written = try rows(of: present, for: read, cache, in: &graph)
      graph.states.append(GraphState(name: cache.past, read: read, written: written == read ? nil : written))
      graph.inputs.removeAll { $0 == read }
    }
    let presents = Set(caches.map(\.present))
    graph.outputs = zip(outputs, graph.outputs).filter { !presents.contains($0.0) }.map(\.1)
    try graph.verify()
    return graph
  }

  /// Returns the value that the next prediction reads: an output, or its last rows.
  private func rows(
    of present: ValueID, for read: ValueID, _ cache: CarriedCache, in graph: inout Graph
  ) throws(GraphError) -> ValueID {
    let (type, made) = (graph[read].type, graph[present].type)
    guard graph[present].weight == nil else { throw GraphError("output '\(cache.present)'", "is a constant") }
    guard made != type else { return present }
    var wanted = type.shape
    if let axis = cache.axis, axis < min(made.shape.rank, wanted.rank), made.shape[axis] >= wanted[axis] {
      wanted[axis] = made.shape[axis]
    }
    guard let axis = cache.axis, made == TensorType(type.scalar, wanted) else {
      throw GraphError("output '\(cache.present)'", "is \(made), and input '\(cache.past)' is \(type)")
    }
    var starts = Array(repeating: 0, count: type.shape.rank)
    starts[axis] = made.shape[axis] - type.shape[axis]
    let slice = Slice(starts: starts, counts: type.shape.dimensions, steps: starts.map { _ in 1 })
    let name = "\(cache.past) carried"
    let rows = graph.addValue(Value(name: name, type: type))
    let origin = Origin(name: cache.present, kind: Slice.name, index: graph.nodes.count)
    graph.nodes.append(Node(name: name, op: slice, inputs: [present], outputs: [rows], origins: [origin]))
    return rows
  }
}
