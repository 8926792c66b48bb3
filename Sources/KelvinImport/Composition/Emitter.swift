import KelvinBasics
package import KelvinGraph

/// Writes the graph nodes of one source operation after another.
///
/// The last node of an operation carries the operation's name and its output's; the steps before it carry the name and
/// what they do (`norm/mean`). All of them have the operation as their origin.
///
/// It is an object, as are the scopes that hold it: what an argument of a call writes is there for the call.
package final class Emitter {
  package var builder: GraphBuilder
  private(set) var name = ""
  package private(set) var outputNames: [String] = []
  package private(set) var origin = Origin(name: "", kind: "", index: 0)
  /// For weights that are computed from other weights, how many such steps lie before each.
  var depths: [ValueID: Int] = [:]
  /// Values of the graph outside all regions that are room for the most there can be: the axis, and what counts it.
  package private(set) var extents: [ValueID: (axis: Int, count: ValueID)] = [:]
  /// Computing a weight recurses along its steps, so a longer chain becomes nodes.
  private static let depthLimit = 32

  /// Tensors may have this many dimensions.
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

  /// Says that of an axis of a value only as many elements are meant as `count` holds. Such a value can only be an
  /// output: what reads it is written into the graph of a later part, which is built for the size that was found.
  package func counted(_ id: ValueID, axis: Int, by count: ValueID) throws -> ValueID {
    guard depth == 0 else {
      throw invalid("the size of its result is known only when it has run, which no sub-graph has a place for")
    }
    extents[id] = (axis, count)
    return id
  }

  /// Adds outputs, and behind them the counts of those whose size a run finds.
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

  /// The weight behind a value that is known while building.
  package func weight(_ id: ValueID) -> Weight? { builder.graph[id].weight }

  /// An error about the operation that is being written.
  package func invalid(_ reason: String) -> GraphError { GraphError("\(origin.kind) '\(name)'", reason) }

  /// An error about sizes that the operation does not take, where an input of other sizes might bring others.
  package func invalidSizes(_ reason: String) -> GraphError {
    GraphError("\(origin.kind) '\(name)'", reason, isAboutSizes: true)
  }

  /// Adds a node.
  ///
  /// - Parameters:
  ///   - step: what the node does within the operation; nil for the node that yields the operation's output.
  ///   - output: which of the operation's outputs that is.
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

  /// Adds a node of several outputs within the operation.
  package func addAll(_ op: any Operator, _ inputs: [ValueID], step: String) throws -> [ValueID] {
    try results(op, inputs, node: "\(name)/\(step)", values: ["\(name)/\(step)"])
  }

  private func results(
    _ op: any Operator, _ inputs: [ValueID], node: String, values: [String]
  ) throws -> [ValueID] {
    if WorkBudget.isSpent { throw invalid("it is not written: a limit was reached") }
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

  /// A constant that the operation computes; nil `step` names it as the operation's output.
  package func constant(_ weight: Weight, step: String? = nil) -> ValueID {
    builder.constant(step.map { "\(name)/\($0)" } ?? outputNames.first ?? name, weight)
  }

  /// A constant computed from the weight of `x` when it is first needed; nil where `x` is not a weight, or one that
  /// already hangs on too many others.
  ///
  /// - Parameter recipe: what is computed, parameters included: packed forms are found again by it for every shape of
  ///   the model's inputs.
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

  /// Numbers that follow from sizes, computed when they are first needed.
  ///
  /// - Throws: where there are more than `tableLimit`: a few bytes of a file can ask for any number.
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

  /// The value of a constant that holds sizes, axes or the like; nil where it is computed from the model's inputs.
  package func integers(_ id: ValueID) throws -> [Int]? {
    guard let weight = weight(id) else { return nil }
    guard weight.type.count <= 1024 else { throw invalid("a list of sizes has \(weight.type.count) elements") }
    return weight.dense().integers
  }

  /// A constant with one element, in its own type.
  package func scalarConstant(_ id: ValueID) -> Tensor? {
    guard let weight = weight(id), weight.type.count == 1 else { return nil }
    return weight.dense()
  }

  /// The value of a constant with one element, where a float32 holds it exactly.
  package func float(_ id: ValueID) -> Float? { scalarConstant(id)?.exactFloat }

  /// The value of a constant with one element.
  package func number(_ id: ValueID) throws -> Double? {
    scalarConstant(id)?.doubles.first
  }

  /// An axis counted from the front.
  package func axis(_ axis: Int, of id: ValueID) throws -> Int {
    guard let positive = shape(id).normalized(axis: axis) else { throw invalid("\(type(id)) has no axis \(axis)") }
    return positive
  }

  /// Axes counted from the front, ascending.
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
