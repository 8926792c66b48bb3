/// A computation on tensors of known types. Nodes are in topological order.
///
/// A graph is a value. Passes return new graphs; devices and planners read them.
package struct Graph: Sendable {
  /// The nodes in topological order.
  package var nodes: [Node]
  /// All tensors, addressed by `ValueID`. A value that is not an input or weight and that no node writes is unused.
  package var values: [Value]
  /// The tensors a caller supplies, in the model's order.
  package var inputs: [ValueID]
  /// The tensors a caller receives, in the model's order. A value may occur twice.
  package var outputs: [ValueID]
  /// The tensors that persist between predictions. Regions have none: they capture the value that is read and return
  /// the value that is written.
  package var states: [GraphState]
  /// The outputs with data-dependent sizes. Regions have none.
  package var extents: [OutputExtent]

  package init(
    nodes: [Node] = [], values: [Value] = [], inputs: [ValueID] = [], outputs: [ValueID] = [],
    states: [GraphState] = [], extents: [OutputExtent] = []
  ) {
    self.nodes = nodes
    self.values = values
    self.inputs = inputs
    self.outputs = outputs
    self.states = states
    self.extents = extents
  }

  /// The values that a prediction computes: the outputs, and the final values of states.
  package var results: [ValueID] { outputs + states.compactMap(\.written) }

  package subscript(value: ValueID) -> Value {
    get { values[value.index] }
    set { values[value.index] = newValue }
  }

  package func types(_ ids: [ValueID]) -> [TensorType] { ids.map { self[$0].type } }

  /// Adds a tensor and returns its index.
  package mutating func addValue(_ value: Value) -> ValueID {
    values.append(value)
    return ValueID(values.count - 1)
  }

  /// Returns for each value the nodes that read it, ascending.
  package func consumers() -> [[Int]] {
    var consumers = [[Int]](repeating: [], count: values.count)
    for (index, node) in nodes.enumerated() {
      for input in node.inputs where consumers[input.index].last != index { consumers[input.index].append(index) }
    }
    return consumers
  }

  /// Returns for each value the node that writes it, or nil for inputs and weights.
  package func producers() -> [Int?] {
    var producers = [Int?](repeating: nil, count: values.count)
    for (index, node) in nodes.enumerated() {
      for output in node.outputs { producers[output.index] = index }
    }
    return producers
  }
}

/// The index of a tensor inside one graph.
package struct ValueID: Hashable, Sendable, Comparable {
  package let index: Int
  package init(_ index: Int) { self.index = index }
  package static func < (left: ValueID, right: ValueID) -> Bool { left.index < right.index }
}

/// A tensor of a graph.
package struct Value: Sendable {
  /// The source's name; unique in the graph.
  package var name: String
  package var type: TensorType
  /// The elements of a constant; nil for other values.
  package var weight: Weight?

  package init(name: String, type: TensorType, weight: Weight? = nil) {
    self.name = name
    self.type = type
    self.weight = weight
  }
}

/// One operation of a graph.
package struct Node: Sendable {
  /// The source's name; unique in the graph.
  package var name: String
  package var op: any Operator
  package var inputs: [ValueID]
  package var outputs: [ValueID]
  /// The source operations that the node implements; the node is named after the first.
  package var origins: [Origin]
  /// Graphs inside the node: the unfused body of a fused node, or the regions of control flow.
  package var regions: [Region]

  package init(
    name: String, op: any Operator, inputs: [ValueID], outputs: [ValueID], origins: [Origin], body: Graph? = nil,
    regions: [Region] = []
  ) {
    self.name = name
    self.op = op
    self.inputs = inputs
    self.outputs = outputs
    self.origins = origins
    self.regions = regions
    if let body { self.body = body }
  }
}

/// An operation of the source file that a node came from.
package struct Origin: Hashable, Sendable {
  /// The operation's name in the file, or a name derived from its first output.
  package let name: String
  /// The file's name of the operator: `Conv`, `ios16.conv`.
  package let kind: String
  /// The operation's index in the file.
  package let index: Int
  /// Its part of a fused node's cost before normalization: floating-point operations plus moved elements.
  package var work: Double

  package init(name: String, kind: String, index: Int, work: Double = 0) {
    self.name = name
    self.kind = kind
    self.index = index
    self.work = work
  }
}

extension Node {
  /// The fraction of each origin in the node's cost; the fractions sum to 1.
  package var originShares: [(origin: Origin, share: Double)] {
    let total = origins.reduce(0) { $0 + $1.work }
    return origins.map { ($0, total > 0 ? $0.work / total : 1 / Double(origins.count)) }
  }
}

/// An error about a model that cannot be expressed as a graph, or about a graph that violates an invariant.
package struct GraphError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The node or value, by the source's name.
  package let place: String
  package let reason: String
  /// Whether the model may be valid, and only the default sizes of its inputs are not.
  package let isAboutSizes: Bool

  package init(_ place: String, _ reason: String, isAboutSizes: Bool = false) {
    self.place = place
    self.reason = reason
    self.isAboutSizes = isAboutSizes
  }

  package var description: String { "\(place): \(reason)" }
}
