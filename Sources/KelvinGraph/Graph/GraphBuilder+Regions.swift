/// A region that is complete, whose captures are still values of the graph around it.
package struct WrittenRegion: Sendable {
  package var role: Region.Role
  package var graph: Graph
  /// For each of the graph's last inputs, the outer value that it captures.
  package var captured: [ValueID]
  package var refusal: String?

  /// Creates a region that cannot run, with the reason.
  package init(_ role: Region.Role, refusal: String) {
    self.init(role, Graph(), captured: [])
    self.refusal = refusal
  }

  init(_ role: Region.Role, _ graph: Graph, captured: [ValueID]) {
    self.role = role
    self.graph = graph
    self.captured = captured
  }
}

extension GraphBuilder {
  /// A graph around the region under construction.
  struct Scope {
    var graph: Graph
    var captured: Captures
  }

  /// The values that a region captured from the graph around it.
  struct Captures {
    var values: [ValueID] = []
    /// The inner value for each captured value and for each constant that was copied.
    var inside: [ValueID: ValueID] = [:]
  }

  /// The number of regions around the nodes under construction.
  package var depth: Int { outer.count }

  /// Returns the weight of a value of an outer graph or of the current one, or nil.
  package func weight(_ id: ValueID, of depth: Int) -> Weight? {
    (depth < self.depth ? outer[depth].graph : graph)[id].weight
  }

  /// Begins a region inside the current graph; subsequent additions belong to the region.
  package mutating func beginRegion() {
    outer.append(Scope(graph: graph, captured: captured))
    graph = Graph()
    captured = Captures()
  }

  /// Ends the region. Its inputs are those that were added by `input`, followed by its captures.
  package mutating func endRegion(_ role: Region.Role, outputs: [ValueID]) -> WrittenRegion {
    var inner = graph
    inner.inputs += captured.values.compactMap { captured.inside[$0] }
    inner.outputs = outputs
    let region = WrittenRegion(role, inner, captured: captured.values)
    leaveRegion()
    return region
  }

  /// Discards the current region.
  package mutating func leaveRegion() {
    guard let scope = outer.popLast() else { preconditionFailure("no region was begun") }
    graph = scope.graph
    captured = scope.captured
  }

  /// Returns a value of an outer graph as the current region reads it: captured by each region in between, or the same
  /// weight if it is constant.
  ///
  /// - Parameter depth: The depth of the graph that has the value.
  package mutating func value(_ id: ValueID, of depth: Int) -> ValueID {
    guard depth < self.depth else { return id }
    var id = id
    for level in (depth + 1)..<self.depth {
      var scope = outer[level]
      id = take(id, outer[level - 1].graph[id], into: &scope)
      outer[level] = scope
    }
    guard let around = outer.last else { return id }
    var scope = Scope(graph: graph, captured: captured)
    let inside = take(id, around.graph[id], into: &scope)
    (graph, captured) = (scope.graph, scope.captured)
    return inside
  }

  private mutating func take(_ id: ValueID, _ value: Value, into scope: inout Scope) -> ValueID {
    if let known = scope.captured.inside[id] { return known }
    var copy = value
    if value.weight == nil {
      scope.captured.values.append(id)
    } else {
      copy.name = unique(value.name, in: \.valueNames)
    }
    let inside = scope.graph.addValue(copy)
    scope.captured.inside[id] = inside
    return inside
  }

  /// Adds control flow.
  ///
  /// - Parameters:
  ///   - inputs: The operator's own operands.
  ///   - regions: The regions in the order of the operator's roles.
  package mutating func add(
    _ op: some ControlOperator, _ inputs: [ValueID], regions: [WrittenRegion], name: String, outputNames: [String],
    origin: Origin
  ) throws(GraphError) -> [ValueID] {
    var operands = inputs
    var positions: [ValueID: Int] = [:]
    let regions = regions.map { region in
      let captures = region.captured.map { id in
        if let known = positions[id] { return known }
        positions[id] = operands.count
        operands.append(id)
        return operands.count - 1
      }
      return Region(role: region.role, graph: region.graph, captures: captures, refusal: region.refusal)
    }
    return try append(op, operands, regions, name: name, outputNames: outputNames, origin: origin)
  }

  /// Adds a tensor that persists between predictions; `write` sets its final value.
  package mutating func state(_ name: String, _ type: TensorType) throws(GraphError) -> ValueID {
    guard depth == 0 else { throw GraphError("state '\(name)'", "is declared inside a region") }
    let id = try input(name, type)
    graph.inputs.removeLast()
    graph.states.append(GraphState(name: name, read: id))
    return id
  }

  package mutating func write(_ id: ValueID, to state: String) {
    guard let index = graph.states.firstIndex(where: { $0.name == state }) else {
      preconditionFailure("there is no state '\(state)'")
    }
    graph.states[index].written = id
  }
}
