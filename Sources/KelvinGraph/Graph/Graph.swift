/// A computation on tensors of known types: nodes in an order in which each follows the ones it reads from.
///
/// A graph is a value. Passes return new graphs; devices and planners read them.
package struct Graph: Sendable {
  /// What the graph computes, in topological order.
  package var nodes: [Node]
  /// Every tensor there is, addressed by `ValueID`. A value without node, weight or input place is unused.
  package var values: [Value]
  /// The tensors a caller supplies, in the model's order.
  package var inputs: [ValueID]
  /// The tensors a caller receives, in the model's order. One value may be received twice.
  package var outputs: [ValueID]
  /// The tensors that outlive a prediction. Regions have none: they capture the value read and hand out the one
  /// written.
  package var states: [GraphState]
  /// The outputs whose size a run finds. Regions have none.
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

  /// What a run is for: the outputs, and what states are left with.
  package var results: [ValueID] { outputs + states.compactMap(\.written) }

  package subscript(value: ValueID) -> Value {
    get { values[value.index] }
    set { values[value.index] = newValue }
  }

  package func types(_ ids: [ValueID]) -> [TensorType] { ids.map { self[$0].type } }

  /// Adds a tensor and returns its address.
  package mutating func addValue(_ value: Value) -> ValueID {
    values.append(value)
    return ValueID(values.count - 1)
  }

  /// For each value, the nodes that read it, ascending.
  package func consumers() -> [[Int]] {
    var consumers = [[Int]](repeating: [], count: values.count)
    for (index, node) in nodes.enumerated() {
      for input in node.inputs where consumers[input.index].last != index { consumers[input.index].append(index) }
    }
    return consumers
  }

  /// For each value, the node that writes it, or nil for inputs and weights.
  package func producers() -> [Int?] {
    var producers = [Int?](repeating: nil, count: values.count)
    for (index, node) in nodes.enumerated() {
      for output in node.outputs { producers[output.index] = index }
    }
    return producers
  }
}

/// The address of a tensor inside one graph.
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
  /// Present for constants.
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
  /// The operations of the source that this node stands for, the first the one it is named after.
  package var origins: [Origin]
  /// Graphs inside the node: what a fused node stands for, or the parts of control flow.
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
  /// The operation's name in the file, or a name made from its first output.
  package let name: String
  /// The file's name for what it does: `Conv`, `ios16.conv`.
  package let kind: String
  /// Its position in the file.
  package let index: Int
  /// Its part of a fused node's cost before normalisation: floating-point operations plus elements moved.
  package var work: Double

  package init(name: String, kind: String, index: Int, work: Double = 0) {
    self.name = name
    self.kind = kind
    self.index = index
    self.work = work
  }
}

extension Node {
  /// Each origin's share of the node's cost, summing to 1.
  package var originShares: [(origin: Origin, share: Double)] {
    let total = origins.reduce(0) { $0 + $1.work }
    return origins.map { ($0, total > 0 ? $0.work / total : 1 / Double(origins.count)) }
  }
}

/// The model cannot be expressed as a graph, or a graph breaks its own rules.
package struct GraphError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The node or value, by the source's name.
  package let place: String
  package let reason: String
  /// Whether the model may be whole and only the usual sizes of its inputs none of those that it means.
  package let isAboutSizes: Bool

  package init(_ place: String, _ reason: String, isAboutSizes: Bool = false) {
    self.place = place
    self.reason = reason
    self.isAboutSizes = isAboutSizes
  }

  package var description: String { "\(place): \(reason)" }
}
