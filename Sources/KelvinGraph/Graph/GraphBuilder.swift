/// An evaluator of nodes whose inputs are all known while a graph is built; implemented by the reference device.
package protocol ConstantEvaluator: Sendable {
  /// Evaluates an operator.
  ///
  /// - Throws: `GraphError` if the operator cannot be evaluated.
  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor]

  /// Whether results of these types are computed while the graph is built, if possible.
  func folds(_ results: [TensorType]) -> Bool
}

extension ConstantEvaluator {
  package func folds(_ results: [TensorType]) -> Bool { true }
}

/// A builder of a graph for concrete input sizes, node by node. It infers types and folds small constants.
///
/// Formats' mappers emit nodes through a builder. Small constant results (sizes, axes, scalars) are computed
/// immediately, so that a mapper knows the value of a shape that the source computes from other shapes.
package struct GraphBuilder {
  package internal(set) var graph = Graph()
  /// The graphs around the current region, outermost first, and the captures from the innermost of them.
  var outer: [Scope] = []
  var captured = Captures()
  private let evaluator: any ConstantEvaluator
  var valueNames: Set<String> = []
  private var nodeNames: Set<String> = []
  /// For each name that was requested twice, the last suffix it was given.
  private var numbers: [String: Int] = [:]
  /// The remaining budget of folding for the whole graph, in elements and operations. It limits malicious models;
  /// genuine constants are few and small.
  private var foldingBudget = 1 << 23
  /// The largest number of elements of a constant that is folded immediately.
  private static let foldingLimit = 1024

  package init(evaluator: any ConstantEvaluator) { self.evaluator = evaluator }

  /// Adds an input of the current graph. In a region, a name that is taken gets a numeric suffix.
  package mutating func input(_ name: String, _ type: TensorType) throws(GraphError) -> ValueID {
    let isTaken = valueNames.contains(name)
    guard !isTaken || depth > 0 else { throw GraphError("input '\(name)'", "the name is used twice") }
    let name = isTaken ? unique(name, in: \.valueNames) : name
    valueNames.insert(name)
    let id = graph.addValue(Value(name: name, type: type))
    graph.inputs.append(id)
    return id
  }

  /// Adds a constant. A name that is taken gets a numeric suffix.
  package mutating func constant(_ name: String, _ weight: Weight) -> ValueID {
    let name = unique(name, in: \.valueNames)
    return graph.addValue(Value(name: name, type: weight.type, weight: weight))
  }

  package mutating func constant(_ name: String, _ tensor: Tensor) -> ValueID { constant(name, Weight(tensor)) }

  package func type(of id: ValueID) -> TensorType { graph[id].type }

  /// Returns the elements of a value that is known while the graph is built, or nil.
  package func constantTensor(_ id: ValueID) -> Tensor? { graph[id].weight?.dense() }

  /// Adds an operation.
  ///
  /// - Parameters:
  ///   - name: The node's name; one that is taken gets a numeric suffix.
  ///   - outputNames: The names of the outputs; missing ones are derived from the node's name.
  /// - Returns: The outputs, which are constants if all inputs are and the result is small.
  /// - Throws: `GraphError` that names the node if its inputs are invalid.
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
    let body = results == nil ? try (op as? any DecomposableOperator)?.decomposition(graph.types(inputs)) : nil
    let outputs = append(op, inputs, [], types, results, name: name, outputNames: outputNames, origin: origin)
    if let body { graph.nodes[graph.nodes.count - 1].body = body }
    return outputs
  }

  /// Adds control flow whose operands include the captures of its regions.
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

  /// Returns the results of an operation on small constants, or nil for other operations. Dequantization is not folded,
  /// so that passes find the integers.
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

  /// Declares a value as an output of the graph.
  package mutating func output(_ id: ValueID) { graph.outputs.append(id) }

  /// Declares that only the first elements of an axis of an output are valid, as many as another output counts; both
  /// are indices of outputs.
  package mutating func extent(of output: Int, axis: Int, countedBy count: Int) {
    graph.extents.append(OutputExtent(output: output, axis: axis, count: count))
  }

  /// Verifies and returns the graph.
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
