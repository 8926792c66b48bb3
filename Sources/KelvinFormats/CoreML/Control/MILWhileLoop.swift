import KelvinGraph

extension MILControl {
  /// The condition's block is written before the loop, on the first values, and at the end of the body, on what it
  /// carries over.
  static let whileLoop = MILControl(name: "while_loop") { operation, source, scope in
    let emitter = scope.emitter
    let (origin, names) = (emitter.origin, emitter.outputNames)
    let first = try operation.values("loop_vars", scope)
    let (test, body) = (try operation.block(0, scope), try operation.block(1, scope))
    func goesOn(_ values: [ValueID]) throws -> ValueID {
      let results = try source.outputs(of: test, values, operation, scope)
      emitter.begin(origin, outputNames: names)
      guard results.count == 1 else {
        throw emitter.invalid("its condition has \(results.count) outputs, expected 1")
      }
      return try emitter.flag(results[0], step: "goes_on")
    }
    let start = try goesOn(first)
    let types = first.map { emitter.type($0) }
    let region = try emitter.region(.body) {
      _ = try emitter.input("\(operation.name)/trip", TensorType(.int64, []))
      let variables = try types.enumerated().map {
        try emitter.input("\(operation.name)/variable\($0)", $1)
      }
      let results = try source.outputs(of: body, variables, operation, scope)
      guard results.count == types.count else {
        throw emitter.invalid("its body has \(results.count) outputs, expected \(types.count)")
      }
      for (result, type) in zip(results, types) where emitter.type(result) != type {
        throw FormatError(
          .unsupported, file: source.file, place: "while_loop '\(operation.name)'", offset: operation.offset,
          "it carries \(type) and its body gives \(emitter.type(result)): sizes that change are not supported")
      }
      return [try goesOn(results)] + results
    }
    let limit = emitter.constant(integers: [-1], .int64, shape: [])
    let results = try emitter.addControl(
      Loop(carriedCount: first.count, isConditional: true), [limit, start] + first, [region], results: first.count + 1)
    return Array(results.dropLast())
  }
}
