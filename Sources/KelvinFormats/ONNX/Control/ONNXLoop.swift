import KelvinGraph

extension ONNXControl {
  static let loop = ONNXControl(name: "Loop") { operation, source, scope in
    let emitter = operation.emitter
    let body = try operation.graph("body")
    let carriedCount = operation.inputs.count - 2
    guard carriedCount >= 0, body.inputs.count == carriedCount + 2, body.outputs.count > carriedCount else {
      throw emitter.invalid(
        "its body has \(body.inputs.count) inputs and \(body.outputs.count) outputs for \(operation.inputs.count) inputs"
      )
    }
    let first = try (0..<carriedCount).map { try operation.input(2 + $0) }
    let limit = try operation.optional(0).map {
      try emitter.reshape(try emitter.cast($0, to: .int64, step: "limit"), [], step: "limit")
    }
    let given = try operation.optional(1).map { try emitter.flag($0, step: "condition") }
    let startsTrue = try given.map { try emitter.number($0).map { $0 != 0 } ?? false } ?? true
    var isConditional = true
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
        let isTrue = try emitter.number(results[0]).map { $0 != 0 } ?? false
        isConditional = !isTrue || !startsTrue
        results[0] = try emitter.flag(results[0], step: "goes_on")
        for (result, type) in zip(results.dropFirst(), types) where emitter.type(result) != type {
          throw operation.unsupported(
            "it carries \(type) and its body gives \(emitter.type(result)): sizes that change are not supported")
        }
        rows = results.dropFirst(1 + carriedCount).map { emitter.type($0) }
        return isConditional ? results : Array(results.dropFirst())
      }
    }
    let condition = isConditional ? given ?? emitter.constant(1, .bool, step: "condition") : nil
    return try operation.loop(region, limit: limit, condition: condition, first, rows)
  }
}

extension ONNXOperation {
  /// The loop of a body that has been written: what it carries, then its accumulated outputs.
  ///
  /// - Parameter rows: the types of what one trip gives to each accumulated output.
  func loop(
    _ body: WrittenRegion, limit: ValueID?, condition: ValueID?, _ first: [ValueID], _ rows: [TensorType]
  ) throws -> [ValueID] {
    guard limit != nil || condition != nil else {
      throw emitter.invalid("has neither a limit nor a condition and would never end")
    }
    var accumulated: [TensorType] = []
    if !rows.isEmpty {
      guard condition == nil, let limit, let trips = try emitter.number(limit) else {
        throw unsupported(
          "the size of its scan outputs is known only when it has run",
          remedy: "make its number of trips constant, or accumulate into a carried tensor")
      }
      let count = Int(saturating: max(trips, 0))
      accumulated = rows.map { TensorType($0.scalar, Shape([count] + $0.shape.dimensions)) }
    }
    let op = Loop(carriedCount: first.count, accumulated: accumulated, isConditional: condition != nil)
    let forever = limit ?? emitter.constant(integers: [-1], .int64, shape: [])
    let results = try emitter.addControl(
      op, [forever] + (condition.map { [$0] } ?? []) + first, [body], results: first.count + rows.count + 1)
    return Array(results.dropLast())
  }
}
