import KelvinGraph
import KelvinImport

extension MILControl {
  /// A loop. The condition's block is emitted before the loop, on the initial values, and at the end of the body, on
  /// the carried values: the loop's variables and the states that its blocks update.
  static let whileLoop = MILControl(name: "while_loop") { c, source in
    let (operation, scope, emitter) = (c.operation, c.scope, c.emitter)
    let (origin, names) = (emitter.origin, emitter.outputNames)
    let variables = try c.values("loop_vars")
    let updated = operation.statesOfBlocks
    let (test, body) = (try c.block(0), try c.block(1))
    func goesOn(_ values: [ValueID]) throws -> ValueID {
      let results = try source.outputs(of: test, values, c)
      emitter.begin(origin, outputNames: names)
      guard results.count == 1 else {
        throw emitter.invalid("its condition has \(results.count) outputs, expected 1")
      }
      return try emitter.flag(results[0], step: "goes_on")
    }
    let start = try goesOn(variables)
    let first = try variables + updated.map { try scope.state($0) }
    let types = first.map { emitter.type($0) }
    let region = try emitter.region(.body) {
      _ = try emitter.input("\(operation.name)/trip", TensorType(.int64, []))
      let carried = try types.enumerated().map { try emitter.input("\(operation.name)/variable\($0)", $1) }
      return try scope.keepingStates {
        for (name, id) in zip(updated, carried.suffix(updated.count)) { try scope.update(name, id) }
        let results = try source.outputs(of: body, Array(carried.dropLast(updated.count)), c)
        guard results.count == variables.count else {
          throw emitter.invalid("its body has \(results.count) outputs, expected \(variables.count)")
        }
        for (result, type) in zip(results, types) where emitter.type(result) != type {
          let error = FormatError(
            .unsupported, file: source.file, place: "while_loop '\(operation.name)'", offset: operation.offset,
            "it carries \(type) and its body gives \(emitter.type(result)): sizes that change between iterations are "
              + "not supported here; carry a tensor of the largest size and write into it (slice_update, scatter)")
          throw DynamicShapeControlFlow(operation.name, error)
        }
        let condition = try goesOn(results)
        return try [condition] + results + updated.map { try scope.state($0) }
      }
    }
    let limit = emitter.constant(integers: [-1], .int64, shape: [])
    let results = try emitter.addControl(
      Loop(carriedCount: first.count, isConditional: true), [limit, start] + first, [region], results: first.count + 1)
    for (name, id) in zip(updated, results[variables.count...]) { try scope.update(name, id) }
    return Array(results.prefix(variables.count))
  }
}
