package import KelvinGraph

/// A transformation of a graph that preserves its results.
package protocol Pass: Sendable {
  /// The name of the pass in reports and golden dumps.
  static var name: String { get }

  /// Transforms a graph.
  ///
  /// - Throws: `GraphError` if the graph violates an invariant; never because the pass cannot improve it.
  func run(_ graph: Graph) throws(GraphError) -> PassResult

  /// Whether the pass runs on regions of a role of control flow.
  func takes(_ role: Region.Role) -> Bool
}

extension Pass {
  package func takes(_ role: Region.Role) -> Bool { true }

  /// Runs the pass on the regions of control flow, innermost first, and then on the graph itself.
  func runInside(_ graph: Graph) throws(GraphError) -> PassResult {
    var changes: [PassChange] = []
    let inner = try graph.mappingRegions { (region, _) throws(GraphError) -> Graph? in
      guard region.role.isControl, takes(region.role), region.refusal == nil else { return nil }
      let result = try run(region.graph)
      guard !result.changes.isEmpty else { return nil }
      changes += result.changes
      return result.graph
    }
    var result = try run(inner ?? graph)
    result.changes = changes + result.changes
    return result
  }
}

package struct PassResult: Sendable {
  package var graph: Graph
  package var changes: [PassChange]
}

/// A change that a pass made to operations of the source, and its reason.
package struct PassChange: Hashable, Sendable {
  package let pass: String
  package let origins: [Origin]
  package let reason: String
  /// Whether the operations were removed from the graph, so that they have no cost at run time.
  package let isRemoval: Bool
}

/// Collects the changes of one pass over a graph and applies them together. Queries about readers and producers of
/// values reflect the changes made so far.
struct GraphEdits {
  let pass: String
  let graph: Graph
  private(set) var changes: [PassChange] = []
  private var removed: Set<Int> = []
  private var rewritten: [Int: Node] = [:]
  private var aliases: [ValueID: ValueID] = [:]
  private var added: [Value] = []
  /// For each value, the nodes that may read it, each at least once: the original readers and the added ones.
  private var consumers: [[Int]]
  private var producers: [Int?]
  private var outputs: Set<ValueID>

  init(_ pass: (some Pass).Type, _ graph: Graph) {
    self.pass = pass.name
    self.graph = graph
    consumers = graph.consumers()
    producers = graph.producers()
    outputs = Set(graph.results)
  }

  /// Returns the node as earlier changes of this pass left it, or nil if they removed it.
  func node(_ index: Int) -> Node? {
    guard !removed.contains(index) else { return nil }
    var node = rewritten[index] ?? graph.nodes[index]
    if !aliases.isEmpty { node.inputs = node.inputs.map(resolve) }
    return node
  }

  /// Whether a value is a result: an output, or the final value of a state.
  func isOutput(_ id: ValueID) -> Bool { outputs.contains(id) }
  func producer(of id: ValueID) -> Int? { producers[id.index] }

  /// Returns the only node that reads a value, possibly several times; nil if there are others or the value is an
  /// output of the graph.
  func onlyConsumer(of id: ValueID) -> Int? {
    let id = resolve(id)
    guard !outputs.contains(id) else { return nil }
    var only: Int?
    for place in consumers[id.index] where place != only && reads(place, id) {
      guard only == nil else { return nil }
      only = place
    }
    return only
  }

  /// Whether nodes other than the given ones read a value, or it is an output of the graph.
  func isRead(_ id: ValueID, besides nodes: Set<Int>) -> Bool {
    outputs.contains(id) || consumers[id.index].contains { !nodes.contains($0) && reads($0, id) }
  }

  /// Whether one of a value's `consumers` still reads it.
  private func reads(_ place: Int, _ id: ValueID) -> Bool {
    guard !removed.contains(place) else { return false }
    return rewritten[place].map { changed in changed.inputs.contains { resolve($0) == id } } ?? true
  }

  func type(_ id: ValueID) -> TensorType { value(id).type }
  func weight(_ id: ValueID) -> Weight? { value(id).weight }

  private func value(_ id: ValueID) -> Value {
    id.index < graph.values.count ? graph[id] : added[id.index - graph.values.count]
  }

  /// Adds a constant with a name derived from existing ones.
  mutating func addWeight(_ name: String, _ weight: Weight) -> ValueID {
    add(Value(name: name, type: weight.type, weight: weight))
  }

  /// Adds a value for a rewritten node to compute.
  mutating func addValue(_ name: String, _ type: TensorType) -> ValueID {
    add(Value(name: name, type: type))
  }

  private mutating func add(_ value: Value) -> ValueID {
    added.append(value)
    consumers.append([])
    producers.append(nil)
    return ValueID(graph.values.count + added.count - 1)
  }

  mutating func rewrite(_ index: Int, _ node: Node) {
    let before = rewritten[index] ?? graph.nodes[index]
    let known = Set(before.inputs)
    for input in Set(node.inputs).subtracting(known) { consumers[resolve(input).index].append(index) }
    for output in before.outputs where producers[output.index] == index { producers[output.index] = nil }
    for output in node.outputs { producers[output.index] = index }
    rewritten[index] = node
  }

  /// Removes a node; readers of its output then read `replacement`.
  mutating func remove(_ index: Int, replacement: ValueID? = nil) {
    guard let node = node(index) else { return }
    for output in node.outputs where producers[output.index] == index { producers[output.index] = nil }
    removed.insert(index)
    guard let replacement = replacement.map(resolve) else { return }
    let output = node.outputs[0]
    aliases[output] = replacement
    consumers[replacement.index] += consumers[output.index]
    consumers[output.index] = []
    if outputs.remove(output) != nil { outputs.insert(replacement) }
  }

  mutating func note(_ origins: [Origin], _ reason: String, isRemoval: Bool = false) {
    changes.append(PassChange(pass: pass, origins: origins, reason: reason, isRemoval: isRemoval))
  }

  /// Returns the value that replaces another after the replacements made so far.
  func resolve(_ id: ValueID) -> ValueID {
    var id = id
    while let next = aliases[id] { id = next }
    return id
  }

  /// Returns the changed graph, without unused values.
  consuming func finish() -> PassResult {
    guard !changes.isEmpty else { return PassResult(graph: graph, changes: []) }
    var nodes: [Node] = []
    for index in graph.nodes.indices {
      if let node = node(index) { nodes.append(node) }
    }
    var result = Graph(
      nodes: nodes, values: graph.values + added, inputs: graph.inputs, outputs: graph.outputs.map(resolve),
      states: graph.states.map { GraphState(name: $0.name, read: $0.read, written: $0.written.map(resolve)) },
      extents: graph.extents)
    result.removeUnusedValues()
    return PassResult(graph: result, changes: changes)
  }
}

extension Graph {
  /// Removes values that are not inputs, outputs or values of a state and that no node uses, and renumbers the others.
  mutating func removeUnusedValues() {
    var isUsed = [Bool](repeating: false, count: values.count)
    for id in inputs + results + states.map(\.read) + nodes.flatMap({ $0.inputs + $0.outputs }) {
      isUsed[id.index] = true
    }
    var addresses = [ValueID](repeating: ValueID(0), count: values.count)
    var kept: [Value] = []
    for (index, value) in values.enumerated() where isUsed[index] {
      addresses[index] = ValueID(kept.count)
      kept.append(value)
    }
    values = kept
    inputs = inputs.map { addresses[$0.index] }
    outputs = outputs.map { addresses[$0.index] }
    states = states.map {
      GraphState(name: $0.name, read: addresses[$0.read.index], written: $0.written.map { addresses[$0.index] })
    }
    for index in nodes.indices {
      nodes[index].inputs = nodes[index].inputs.map { addresses[$0.index] }
      nodes[index].outputs = nodes[index].outputs.map { addresses[$0.index] }
    }
  }
}
