import KelvinGraph
import KelvinImport

extension ONNXControl {
  /// A loop. The accumulated outputs have as many rows as there were iterations, at most as many as the limit. A loop
  /// with such outputs needs to know its limit while the graph is built.
  static let loop = ONNXControl(
    name: "Loop", valueDependentInputs: { $0.accumulates || $0.carriesLists ? [0, 1] : [] },
    hasDataDependentShape: { $0.accumulates && !$0.carriesLists && $0.computesItsCondition }
  ) { operation, source, scope in
    let emitter = operation.emitter
    let body = try operation.graph("body")
    if operation.node.carriesLists { return try operation.unrolled(body, source, scope) }
    let carriedCount = operation.inputs.count - 2
    guard carriedCount >= 0, body.inputs.count == carriedCount + 2, body.outputs.count > carriedCount else {
      throw emitter.invalid(
        "its body has \(body.inputs.count) inputs and \(body.outputs.count) outputs for \(operation.inputs.count) inputs"
      )
    }
    let first = try (0..<carriedCount).map { try operation.input(2 + $0) }
    let limit = try operation.optional(0).map {
      try emitter.tripLimit(try emitter.reshape(try emitter.cast($0, to: .int64, step: "limit"), [], step: "limit"))
    }
    let given = try operation.optional(1).map { try emitter.flag($0, step: "condition") }
    let start = try given.map { try emitter.number($0).map { $0 != 0 } } ?? true
    // The condition after each iteration; nil if the iterations compute it.
    var next: Bool?
    let types = first.map { emitter.type($0) }
    var rows: [TensorType] = []
    let region = try emitter.region(.body) {
      try scope.inside(body) {
        let number = try emitter.input("\(operation.node.name)/\(body.inputs[0].name)", TensorType(.int64, []))
        let isVector = body.inputs[0].sizes?.count == 1
        try scope.define(
          body.inputs[0].name, isVector ? try emitter.reshape(number, [1], step: "trip") : number, by: "body")
        let truth = emitter.constant(1, .bool, step: "goes_on")
        try scope.define(body.inputs[1].name, truth, by: "body")
        for (info, type) in zip(body.inputs.dropFirst(2), types) {
          try scope.define(info.name, try emitter.input("\(operation.node.name)/\(info.name)", type), by: "body")
        }
        var results = try source.outputs(of: body, operation, scope)
        next = try emitter.number(results[0]).map { $0 != 0 }
        results[0] = try emitter.flag(results[0], step: "goes_on")
        try operation.checkCarried(types, Array(results.dropFirst()))
        rows = results.dropFirst(1 + carriedCount).map { emitter.type($0) }
        return start != nil && next != nil ? Array(results.dropFirst()) : results
      }
    }
    guard let start, let next else {
      let condition = given ?? emitter.constant(1, .bool, step: "condition")
      return try operation.loop(region, limit: limit, condition: condition, first, rows).map { .tensor($0) }
    }
    let atMost = start ? next ? nil : 1 : 0
    return try operation.loop(
      region, limit: atMost.map { try emitter.least(limit, $0) } ?? limit, condition: nil, first, rows
    ).map { .tensor($0) }
  }
}

extension ONNXOperation {
  /// Returns the results of a loop whose body is emitted: the carried values, then the accumulated outputs.
  ///
  /// - Parameters:
  ///   - rows: The types of the rows that one iteration adds to each accumulated output.
  ///   - step: The name of the loop as a step of the operation; nil if it yields the operation's outputs.
  func loop(
    _ body: WrittenRegion, limit: ValueID?, condition: ValueID?, _ first: [ValueID], _ rows: [TensorType],
    step: String? = nil
  ) throws -> [ValueID] {
    guard limit != nil || condition != nil else {
      throw emitter.invalid("has neither a limit nor a condition and would never end")
    }
    let accumulated = rows.isEmpty ? [] : try accumulated(rows, limit: limit, mayEndEarly: condition != nil)
    let op = Loop(carriedCount: first.count, accumulated: accumulated, isConditional: condition != nil)
    let forever = limit ?? emitter.constant(integers: [-1], .int64, shape: [])
    let results = try emitter.addControl(
      op, [forever] + (condition.map { [$0] } ?? []) + first, [body], results: first.count + rows.count + 1,
      step: step)
    guard condition != nil, let trips = results.last else { return Array(results.dropLast()) }
    for rows in results.dropFirst(first.count).dropLast() { _ = try emitter.counted(rows, axis: 0, by: trips) }
    return Array(results.dropLast())
  }

  /// Returns types with as many rows as the limit allows iterations.
  ///
  /// - Throws: `DynamicShapeControlFlow` if executing the loop on the host may need fewer rows.
  private func accumulated(_ rows: [TensorType], limit: ValueID?, mayEndEarly: Bool) throws -> [TensorType] {
    guard let limit, let trips = try emitter.number(limit) else {
      throw shapeMismatch(
        unsupported(
          "its scan outputs have one row per iteration, but its iteration limit is not known when it begins",
          remedy: "give it a number of iterations, or accumulate into a carried tensor"))
    }
    let count = Int(saturating: max(trips, 0))
    let types = rows.map { TensorType($0.scalar, Shape([count] + $0.shape.dimensions)) }
    let isSmall = types.allSatisfy { $0.shape.isAddressable && $0.byteCount <= Self.accumulatedByteLimit }
    guard isSmall else {
      let error = unsupported(
        "its scan outputs would need room for \(count) iterations, \(types[0])",
        remedy: "give it its largest number of iterations")
      throw mayEndEarly ? shapeMismatch(error) : error
    }
    return types
  }

  /// Checks that an iteration keeps the types of the carried values.
  ///
  /// - Throws: `DynamicShapeControlFlow` if it does not.
  func checkCarried(_ given: [TensorType], _ left: [ValueID]) throws {
    for (type, left) in zip(given, left) where emitter.type(left) != type {
      throw shapeMismatch(
        unsupported(
          "it carries \(type) and its body gives \(emitter.type(left)): sizes that change between iterations are not "
            + "supported here; carry a tensor of the largest size and write into it (ScatterND), or export the rows as "
            + "scan outputs"))
    }
  }

  private func shapeMismatch(_ error: any Error) -> DynamicShapeControlFlow {
    DynamicShapeControlFlow(node.flowName, error)
  }

  private static let accumulatedByteLimit = 1 << 31
}

extension ONNXNode {
  /// Whether the loop carries sequences of tensors, or optional values.
  var carriesLists: Bool { body.map { ($0.inputs + $0.outputs).contains(where: \.isList) } ?? false }

  private var body: ONNXGraph? { (try? attributes["body"]?.subgraphs())?.first }

  /// Whether the loop accumulates rows, and neither a limit nor a constant condition bounds their number in advance.
  var accumulatesWithoutLimit: Bool { accumulates && inputs.first?.isEmpty == true && computesItsCondition }

  fileprivate var accumulates: Bool { body.map { $0.outputs.count > max(inputs.count, 2) - 1 } ?? false }

  /// Whether the body computes the condition, which is neither a constant nor the condition of the previous iteration.
  fileprivate var computesItsCondition: Bool {
    guard let body, body.inputs.count > 1, var name = body.outputs.first?.name else { return true }
    let makers = Dictionary(body.nodes.flatMap { node in node.outputs.map { ($0, node) } }) { first, _ in first }
    // Nodes follow the nodes that they read, so that the chain ends; the limit guards against files that break the
    // rule.
    for _ in 0...body.nodes.count {
      if name == body.inputs[1].name || body.initializers[name] != nil { return false }
      guard let maker = makers[name] else { return true }
      if maker.qualifiedKind == "Constant" { return false }
      guard ["Identity", "Cast"].contains(maker.qualifiedKind), let source = maker.inputs.first else { return true }
      name = source
    }
    return true
  }
}

extension Emitter {
  /// Returns a limit of iterations that is at most `count`.
  fileprivate func least(_ limit: ValueID?, _ count: Int) throws -> ValueID {
    let bound = constant(integers: [count], .int64, shape: [])
    guard let limit else { return bound }
    return try binary(.minimum, limit, bound, step: "limit")
  }
}
