/// Computes nodes whose inputs are all known while a graph is built; implemented by the reference device.
package protocol ConstantEvaluator: Sendable {
  /// - Throws: `GraphError` where the operator cannot be evaluated.
  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor]

  /// Whether results of these types are computed while the graph is built, where they can be.
  func folds(_ results: [TensorType]) -> Bool
}

extension ConstantEvaluator {
  package func folds(_ results: [TensorType]) -> Bool { true }
}

/// Builds a graph node by node for concrete input sizes, inferring types and folding what is small and constant.
///
/// Formats' mappers write through a builder. Small constant results (sizes, axes, scalars) are computed at once, so
/// that a mapper sees the value of a shape that the source computes from other shapes.
package struct GraphBuilder {
  package internal(set) var graph = Graph()
  /// The graphs around the region that is being written, outermost first, and what it captured of the innermost.
  var outer: [Scope] = []
  var captured = Captures()
  private let evaluator: any ConstantEvaluator
  var valueNames: Set<String> = []
  private var nodeNames: Set<String> = []
  /// For each name that was asked for twice, the last number it was given.
  private var numbers: [String: Int] = [:]
  /// What folding may still take for the whole graph, in elements and operations: a model's constants are few and small.
  private var foldingBudget = 1 << 23
  /// The largest element count that is folded on the spot.
  private static let foldingLimit = 1024

  package init(evaluator: any ConstantEvaluator) { self.evaluator = evaluator }

  /// An input of the graph that is being written. In a region a name that is taken gets a number.
  package mutating func input(_ name: String, _ type: TensorType) throws(GraphError) -> ValueID {
    let isTaken = valueNames.contains(name)
    guard !isTaken || depth > 0 else { throw GraphError("input '\(name)'", "the name is used twice") }
    let name = isTaken ? unique(name, in: \.valueNames) : name
    valueNames.insert(name)
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
    let results = try fold(op, inputs, types)
    return append(op, inputs, [], types, results, name: name, outputNames: outputNames, origin: origin)
  }

  /// Adds control flow, whose operands include what its regions capture.
  mutating func append(
    _ op: some ControlOperator, _ inputs: [ValueID], _ regions: [Region], name: String, outputNames: [String],
    origin: Origin
  ) throws(GraphError) -> [ValueID] {
    let types: [TensorType]
    do { types = try op.infer(graph.types(inputs)) } catch {
      throw GraphError("\(op.name) '\(name)'", error.description)
    }
    return append(op, inputs, regions, types, nil, name: name, outputNames: outputNames, origin: origin)
  }

  private mutating func append(
    _ op: any Operator, _ inputs: [ValueID], _ regions: [Region], _ types: [TensorType], _ results: [Tensor]?,
    name: String, outputNames: [String], origin: Origin
  ) -> [ValueID] {
    var outputs: [ValueID] = []
    for (index, type) in types.enumerated() {
      let wanted = index < outputNames.count ? outputNames[index] : name
      let id = graph.addValue(
        Value(name: unique(wanted, in: \.valueNames), type: type, weight: results.map { Weight($0[index]) }))
      outputs.append(id)
    }
    guard results == nil else { return outputs }
    var node = Node(
      name: unique(name, in: \.nodeNames), op: op, inputs: inputs, outputs: outputs, origins: [], regions: regions)
    var origin = origin
    let work = graph.work(of: node)
    origin.work = work.operations + work.bytes
    node.origins = [origin]
    graph.nodes.append(node)
    return outputs
  }

  /// The results of an operation on small constants, or nil where it is not one. Dequantization stays, so that passes find
  /// the integers.
  private mutating func fold(
    _ op: any Operator, _ inputs: [ValueID], _ types: [TensorType]
  ) throws(GraphError) -> [Tensor]? {
    let inputTypes = graph.types(inputs)
    guard (inputTypes + types).allSatisfy({ $0.count <= Self.foldingLimit }),
      inputs.allSatisfy({ graph[$0].weight != nil }), !(op is Dequantize), op.isPure, evaluator.folds(types)
    else { return nil }
    let empty = types.allSatisfy { $0.count == 0 }
    if empty { return types.map { Tensor($0, Bytes([UInt8]())) } }
    let elements = (inputTypes + types).reduce(0) { $0 + $1.count }
    let operations = op.operations(inputTypes, types)
    guard operations + Double(elements) <= Double(foldingBudget) else { return nil }
    foldingBudget -= elements + Int(operations)
    return try evaluator.evaluate(op, inputs.compactMap(constantTensor))
  }

  /// Adds an operation with one output.
  package mutating func add(
    _ op: any Operator, _ inputs: ValueID..., name: String, output: String? = nil, origin: Origin
  ) throws(GraphError) -> ValueID {
    try add(op, inputs, name: name, outputNames: output.map { [$0] } ?? [], origin: origin)[0]
  }

  /// Names a value as an output of the graph.
  package mutating func output(_ id: ValueID) { graph.outputs.append(id) }

  /// Says that of an axis of one output only as many elements are meant as another output counts; both by position.
  package mutating func extent(of output: Int, axis: Int, countedBy count: Int) {
    graph.extents.append(OutputExtent(output: output, axis: axis, count: count))
  }

  /// The verified graph.
  package consuming func finish() throws(GraphError) -> Graph {
    try graph.verify()
    return graph
  }

  mutating func unique(_ name: String, in names: WritableKeyPath<GraphBuilder, Set<String>>) -> String {
    let wanted = name.isEmpty ? "unnamed" : name
    if self[keyPath: names].insert(wanted).inserted { return wanted }
    var number = numbers[wanted] ?? 1
    var candidate: String
    repeat {
      number += 1
      candidate = "\(wanted)~\(number)"
    } while !self[keyPath: names].insert(candidate).inserted
    numbers[wanted] = number
    return candidate
  }
}
