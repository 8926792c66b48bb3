/// Computes nodes whose inputs are all known while a graph is built; implemented by the reference device.
package protocol ConstantEvaluator: Sendable {
  /// - Throws: `GraphError` where the operator cannot be evaluated.
  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor]
}

/// Builds a graph node by node for concrete input sizes, inferring types and folding what is small and constant.
///
/// Formats' mappers write through a builder. Small constant results (sizes, axes, scalars) are computed at once, so
/// that a mapper sees the value of a shape that the source computes from other shapes.
package struct GraphBuilder {
  package private(set) var graph = Graph()
  private let evaluator: any ConstantEvaluator
  private var valueNames: Set<String> = []
  private var nodeNames: Set<String> = []
  /// The largest element count that is folded on the spot.
  private static let foldingLimit = 1024

  package init(evaluator: any ConstantEvaluator) { self.evaluator = evaluator }

  package mutating func input(_ name: String, _ type: TensorType) throws(GraphError) -> ValueID {
    guard valueNames.insert(name).inserted else { throw GraphError("input '\(name)'", "the name is used twice") }
    let id = graph.addValue(Value(name: name, type: type))
    graph.inputs.append(id)
    return id
  }

  /// A constant. A name that is taken gets a number.
  package mutating func constant(_ name: String, _ weight: Weight) -> ValueID {
    let name = unique(name, in: \.valueNames)
    return graph.addValue(Value(name: name, type: weight.type, weight: weight))
  }

  package mutating func constant(_ name: String, _ tensor: Tensor) -> ValueID { constant(name, Weight(tensor)) }

  package func type(of id: ValueID) -> TensorType { graph[id].type }

  /// The elements of a value that is known while building, or nil.
  package func constantTensor(_ id: ValueID) -> Tensor? { graph[id].weight?.dense() }

  /// Adds an operation.
  ///
  /// - Parameters:
  ///   - name: the node's name; one that is taken gets a number.
  ///   - outputNames: names for the outputs; the node's name where there are fewer.
  /// - Returns: the outputs, which are constants where all inputs are and the result is small.
  /// - Throws: `GraphError` naming the node when its inputs do not fit.
  package mutating func add(
    _ op: any Operator, _ inputs: [ValueID], name: String, outputNames: [String] = [], origin: Origin
  ) throws(GraphError) -> [ValueID] {
    let types: [TensorType]
    do { types = try op.infer(graph.types(inputs)) } catch {
      throw GraphError("\(op.name) '\(name)'", error.description)
    }
    for type in types where !type.shape.isAddressable {
      throw GraphError("\(op.name) '\(name)'", "its result \(type) is too large")
    }
    let small = (graph.types(inputs) + types).allSatisfy { $0.count <= Self.foldingLimit }
    let constants = inputs.compactMap(constantTensor)
    let results: [Tensor]? =
      small && constants.count == inputs.count ? try evaluator.evaluate(op, constants) : nil
    var outputs: [ValueID] = []
    for (index, type) in types.enumerated() {
      let wanted = index < outputNames.count ? outputNames[index] : name
      let id = graph.addValue(
        Value(name: unique(wanted, in: \.valueNames), type: type, weight: results.map { Weight($0[index]) }))
      outputs.append(id)
    }
    guard results == nil else { return outputs }
    var node = Node(name: unique(name, in: \.nodeNames), op: op, inputs: inputs, outputs: outputs, origins: [])
    var origin = origin
    let work = graph.work(of: node)
    origin.work = work.operations + work.bytes
    node.origins = [origin]
    graph.nodes.append(node)
    return outputs
  }

  /// Adds an operation with one output.
  package mutating func add(
    _ op: any Operator, _ inputs: ValueID..., name: String, output: String? = nil, origin: Origin
  ) throws(GraphError) -> ValueID {
    try add(op, inputs, name: name, outputNames: output.map { [$0] } ?? [], origin: origin)[0]
  }

  /// Names a value as an output of the graph.
  package mutating func output(_ id: ValueID) { graph.outputs.append(id) }

  /// The verified graph.
  package consuming func finish() throws(GraphError) -> Graph {
    try graph.verify()
    return graph
  }

  private mutating func unique(_ name: String, in names: WritableKeyPath<GraphBuilder, Set<String>>) -> String {
    let wanted = name.isEmpty ? "unnamed" : name
    var candidate = wanted
    var number = 1
    while !self[keyPath: names].insert(candidate).inserted {
      number += 1
      candidate = "\(wanted)~\(number)"
    }
    return candidate
  }
}
