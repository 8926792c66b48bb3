package import KelvinGraph

/// A graph whose inputs grow by one row per step, as a decoder's keys and values do, rewritten so that a number of
/// leading rows are padding. One graph then serves all lengths up to the one that it is built for.
///
/// Dependence on the length is found by comparison of graphs that were built for three lengths. Each growing tensor
/// then consists of padding along the growing axis, followed by the tensor at the true length:
///
/// - constants that follow from the length, such as positions, count it from the end of the padding;
/// - a slice of a table that begins at the length takes the rows of the true length;
/// - a softmax along a growing axis excludes the padding, and so do products that sum along it.
///
/// Other nodes that sum along a growing axis, or rearrange its elements, cannot be rewritten.
package struct PaddedGraph {
  let builds: [Graph]
  /// The rewritten graph, whose first values are those of the longest build.
  var graph: Graph
  /// The input that holds the number of padding rows.
  let padding: ValueID
  /// The nodes that depend only on the padding.
  var prelude: [Node] = []
  /// The replacements of constants that depend on the length.
  var constants: [ValueID: ValueID] = [:]
  /// By value, the axes along which it grows.
  var growing: [ValueID: [Int]] = [:]
  /// By value, the axes along which it is zero in the padding.
  var zeroed: [ValueID: Set<Int>] = [:]
  /// The values that are computed from the elements of growing inputs.
  var followsInputs: Set<ValueID> = []
  let consumers: [[Int]]
  private var names: Set<String>

  /// Rewrites the longest of the graphs.
  ///
  /// - Parameters:
  ///   - builds: The same graph for three lengths, each one less than the previous one; passes have not run on them.
  ///   - slot: The name of the added input, the number of padding rows, an int64 scalar.
  /// - Throws: `GraphError` that names a node which cannot be rewritten.
  package static func rewriting(_ builds: [Graph], padding slot: String) throws(GraphError) -> Graph {
    var writer = try PaddedGraph(builds, slot)
    for index in writer.builds[0].nodes.indices { try writer.rewrite(index) }
    writer.graph.nodes = writer.prelude + writer.graph.nodes
    for id in writer.builds[0].outputs where writer.builds[0][id].weight != nil {
      _ = try writer.operand(id, place: "output '\(writer.builds[0][id].name)'")
    }
    writer.graph.outputs = writer.graph.outputs.map { writer.constants[$0] ?? $0 }
    writer.graph.removeUnusedValues()
    try writer.graph.verify()
    return writer.graph
  }

  private init(_ builds: [Graph], _ slot: String) throws(GraphError) {
    precondition(builds.count == 3)
    let longest = builds[0]
    for other in builds[1...] {
      let isAlike =
        other.nodes.count == longest.nodes.count && other.values.count == longest.values.count
        && other.inputs == longest.inputs && other.outputs == longest.outputs
      guard isAlike, longest.states.isEmpty, longest.extents.isEmpty else {
        throw GraphError("the graph", "differs for another length")
      }
    }
    self.builds = builds
    consumers = longest.consumers()
    names = Set(longest.values.map(\.name)).union(longest.nodes.map(\.name))
    graph = longest
    graph.nodes = []
    padding = graph.addValue(Value(name: slot, type: TensorType(.int64, [])))
    graph.inputs.append(padding)
    guard names.insert(slot).inserted else { throw GraphError("input '\(slot)'", "the name is used twice") }
    let read = Set(longest.nodes.flatMap { $0.inputs + $0.outputs } + longest.inputs + longest.outputs)
    for id in read.sorted() { growing[id] = try growth(of: id) }
    followsInputs = Set(longest.inputs.filter { growing[$0] != [] })
  }

  /// Returns the axes along which a value has one more position for each row.
  private func growth(of id: ValueID) throws(GraphError) -> [Int] {
    let types = builds.map { $0[id].type }
    guard types.allSatisfy({ $0.scalar == types[0].scalar && $0.shape.rank == types[0].shape.rank }) else {
      throw GraphError("value '\(graph[id].name)'", "is \(types[0]) or \(types[1]), depending on the length")
    }
    var axes: [Int] = []
    for axis in 0..<types[0].shape.rank {
      switch (types[0].shape[axis] - types[1].shape[axis], types[1].shape[axis] - types[2].shape[axis]) {
      case (0, 0): continue
      case (1, 1): axes.append(axis)
      default:
        throw GraphError("value '\(graph[id].name)'", "is \(types[0]) or \(types[1]), which is not a growth by one row")
      }
    }
    return axes
  }

  /// Adds a node that depends only on the padding.
  mutating func add(_ op: any Operator, _ inputs: ValueID..., name: String) throws(GraphError) -> ValueID {
    let node = try node(op, inputs, name: name)
    prelude.append(node)
    return node.outputs[0]
  }

  /// Returns a node with a new value.
  mutating func node(_ op: any Operator, _ inputs: [ValueID], name: String) throws(GraphError) -> Node {
    let name = unique("padding/\(name)")
    let types: [TensorType]
    do { types = try op.infer(graph.types(inputs)) } catch { throw GraphError(name, error.description) }
    let output = graph.addValue(Value(name: name, type: types[0]))
    return Node(
      name: name, op: op, inputs: inputs, outputs: [output],
      origins: [Origin(name: "padding", kind: "padding", index: 0, work: 1)])
  }

  mutating func constant(_ tensor: Tensor, name: String) -> ValueID {
    graph.addValue(Value(name: unique("padding/\(name)"), type: tensor.type, weight: Weight(tensor)))
  }

  private mutating func unique(_ name: String) -> String {
    var (candidate, number) = (name, 1)
    while !names.insert(candidate).inserted {
      number += 1
      candidate = "\(name)~\(number)"
    }
    return candidate
  }

  func grows(_ id: ValueID) -> [Int] { growing[id] ?? [] }
}
