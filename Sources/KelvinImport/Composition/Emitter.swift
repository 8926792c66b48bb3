import KelvinBasics
package import KelvinGraph

/// Emits the graph nodes of one source operation after another.
///
/// The last node of an operation has the operation's name and that of its output. The steps before it have the name and
/// a suffix for their task (`norm/mean`). All of them have the operation as their origin.
///
/// The emitter is an object, like the scopes that hold it, so that nodes that are emitted by an argument of a call are
/// visible in the call.
package final class Emitter {
  package var builder: GraphBuilder
  private(set) var name = ""
  package private(set) var outputNames: [String] = []
  package private(set) var origin = Origin(name: "", kind: "", index: 0)
  /// By weight that is computed from other weights, the length of the chain of computations before it.
  var depths: [ValueID: Int] = [:]
  /// By value outside all regions with a data-dependent size, the axis of that size and the value that counts it. The
  /// buffer of the value has the maximum size.
  package private(set) var extents: [ValueID: (axis: Int, count: ValueID)] = [:]
  /// The greatest length of a chain of computed weights. Computing a weight recurses along the chain, so a longer chain
  /// becomes nodes.
  private static let depthLimit = 32

  /// The greatest number of dimensions of a tensor.
  package static let rankLimit = 32

  package init(evaluator: any ConstantEvaluator) { builder = GraphBuilder(evaluator: evaluator) }

  /// Starts the next source operation.
  package func begin(_ origin: Origin, outputNames: [String]) {
    name = origin.name
    self.origin = origin
    self.outputNames = outputNames
  }

  package func input(_ name: String, _ type: TensorType) throws -> ValueID { try builder.input(name, type) }

  package func output(_ id: ValueID) { builder.output(id) }

  /// Declares that only the first elements of an axis of a value count, as many as `count` holds. The value can only be
  /// an output. Its readers belong to the graph of a later part, which is specialized for the size.
  package func counted(_ id: ValueID, axis: Int, by count: ValueID) throws -> ValueID {
    guard depth == 0 else {
      throw invalid("the size of its result depends on data, which is not supported in a sub-graph")
    }
    extents[id] = (axis, count)
    return id
  }

  /// Adds outputs, followed by the counts of outputs with data-dependent sizes.
  package func outputs(_ ids: [ValueID]) {
    ids.forEach { builder.output($0) }
    for (position, id) in ids.enumerated() {
      guard let (axis, count) = extents[id] else { continue }
      builder.extent(of: position, axis: axis, countedBy: builder.graph.outputs.count)
      builder.output(count)
    }
  }

  package func finish() throws -> Graph { try builder.finish() }

  package func type(_ id: ValueID) -> TensorType { builder.type(of: id) }
  package func shape(_ id: ValueID) -> Shape { builder.type(of: id).shape }
  package func scalar(_ id: ValueID) -> ScalarType { builder.type(of: id).scalar }

  /// Returns the weight of a value that is known while the graph is built, or nil.
  package func weight(_ id: ValueID) -> Weight? { builder.graph[id].weight }

  /// Returns an error about the current operation.
  package func invalid(_ reason: String) -> GraphError { GraphError("\(origin.kind) '\(name)'", reason) }

  /// Returns an error about sizes that the operation does not support, although inputs of other sizes may be valid.
  package func invalidSizes(_ reason: String) -> GraphError {
    GraphError("\(origin.kind) '\(name)'", reason, isAboutSizes: true)
  }

  /// Adds a node.
  ///
  /// - Parameters:
  ///   - step: The name of the node as a step of the operation; nil for the node that yields the operation's output.
  ///   - output: The index of that output.
  package func add(
    _ op: any Operator, _ inputs: [ValueID], step: String? = nil, output: Int = 0
  ) throws -> ValueID {
    let node = step.map { "\(name)/\($0)" } ?? name
    let value = step == nil && output < outputNames.count ? outputNames[output] : node
    guard let result = try results(op, inputs, node: node, values: [value]).first else {
      throw invalid("it has no result")
    }
    return result
  }

  /// Adds a node that yields all of the operation's outputs.
  package func addAll(_ op: any Operator, _ inputs: [ValueID]) throws -> [ValueID] {
    try results(op, inputs, node: name, values: outputNames)
  }

  /// Adds a node with several results as a step of the operation.
  package func addAll(_ op: any Operator, _ inputs: [ValueID], step: String) throws -> [ValueID] {
    try results(op, inputs, node: "\(name)/\(step)", values: ["\(name)/\(step)"])
  }

  private func results(
    _ op: any Operator, _ inputs: [ValueID], node: String, values: [String]
  ) throws -> [ValueID] {
    if WorkBudget.isSpent { throw invalid("it is not emitted: a limit was reached") }
    let results: [ValueID]
    do {
      results = try builder.add(op, inputs, name: node, outputNames: values, origin: origin)
    } catch {
      throw invalid(error.reason)
    }
    guard results.allSatisfy({ shape($0).rank <= Self.rankLimit }) else {
      throw invalid("its result has more than \(Self.rankLimit) dimensions")
    }
    return results
  }

  package func add(
    _ op: any Operator, _ inputs: ValueID..., step: String? = nil, output: Int = 0
  ) throws -> ValueID {
    try add(op, inputs, step: step, output: output)
  }

  package func constant(named name: String, _ weight: Weight) -> ValueID { builder.constant(name, weight) }

  /// Adds a constant that the operation computes; if `step` is nil, it has the name of the operation's output.
  package func constant(_ weight: Weight, step: String? = nil) -> ValueID {
    builder.constant(step.map { "\(name)/\($0)" } ?? outputNames.first ?? name, weight)
  }

  /// Adds a constant that is computed on demand from the weight of `x`. Returns nil if `x` is not a weight, or if the
  /// chain of computed weights is too long.
  ///
  /// - Parameter recipe: The identity of the computation, parameters included. Packed weights are cached under it for
  ///   all shapes of the model's inputs.
  func derived(
    _ x: ValueID, _ type: TensorType, step: String?, recipe: String, _ compute: @escaping @Sendable (Tensor) -> Tensor
  ) -> ValueID? {
    let depth = depths[x] ?? 0
    guard let weight = weight(x), depth < Self.depthLimit else { return nil }
    let result = constant(
      Weight(type, from: [weight], recipe: WeightRecipe(recipe, [weight])) { compute(weight.dense()) }, step: step)
    depths[result] = depth + 1
    return result
  }

  package func constant(_ value: Double, _ scalar: ScalarType, step: String? = nil) -> ValueID {
    constant(Weight(Tensor(TensorType(scalar, []), rounding: [value])), step: step)
  }

  package func zeros(_ type: TensorType, step: String) -> ValueID {
    constant(Weight(type) { Tensor(type, Bytes(count: type.byteCount) { _ in }) }, step: step)
  }

  package func constant(integers: [Int], _ scalar: ScalarType = .int64, shape: Shape? = nil) -> ValueID {
    let exact = Tensor(integers.map(Int64.init), shape ?? [integers.count])
    return constant(Weight(exact.converted(to: scalar)))
  }

  /// Adds a constant of numbers that follow from sizes and are computed on demand.
  ///
  /// - Throws: An error if there are more than `tableLimit` numbers, because a few bytes of a file can request any
  ///   number.
  package func table(
    _ scalar: ScalarType, _ shape: Shape, step: String? = nil, _ numbers: @escaping @Sendable () -> [Double]
  ) throws -> ValueID {
    let type = TensorType(scalar, shape)
    guard shape.isAddressable, shape.count <= Self.tableLimit else {
      throw invalid("a table of \(type), expected at most \(Self.tableLimit) numbers")
    }
    return constant(Weight(type) { Tensor(type, rounding: numbers()) }, step: step)
  }

  private static let tableLimit = 1 << 26

  /// Returns the elements of a constant of sizes, axes or similar integers, or nil if they depend on the model's
  /// inputs.
  package func integers(_ id: ValueID) throws -> [Int]? {
    guard let weight = weight(id) else { return nil }
    guard weight.type.count <= 1024 else { throw invalid("a list of sizes has \(weight.type.count) elements") }
    return weight.dense().integers
  }

  /// Returns a constant with one element, in its own type, or nil.
  package func scalarConstant(_ id: ValueID) -> Tensor? {
    guard let weight = weight(id), weight.type.count == 1 else { return nil }
    return weight.dense()
  }

  /// Returns the number of a constant with one element, if float32 represents it exactly.
  package func float(_ id: ValueID) -> Float? { scalarConstant(id)?.exactFloat }

  /// Returns the number of a constant with one element, or nil.
  package func number(_ id: ValueID) throws -> Double? {
    scalarConstant(id)?.doubles.first
  }

  /// Returns an axis counted from the front.
  package func axis(_ axis: Int, of id: ValueID) throws -> Int {
    guard let positive = shape(id).normalized(axis: axis) else { throw invalid("\(type(id)) has no axis \(axis)") }
    return positive
  }

  /// Returns axes counted from the front, ascending.
  package func axes(_ axes: [Int], of id: ValueID) throws -> [Int] { try self.axes(axes, rank: shape(id).rank) }

  package func axes(_ axes: [Int], rank: Int) throws -> [Int] {
    guard axes.count <= rank, rank <= Self.rankLimit else { throw invalid("\(axes.count) axes of \(rank)") }
    var result: [Int] = []
    for axis in axes {
      let positive = axis < 0 ? axis &+ rank : axis
      guard (0..<rank).contains(positive), !result.contains(positive) else {
        throw invalid("\(axes) are not different axes of \(rank)")
      }
      result.append(positive)
    }
    return result.sorted()
  }
}
