import KelvinGraph
import KelvinImport

extension ONNXControl {
  /// Applies a sub-graph to the elements of sequences of equal length, one after another; a tensor among the inputs is
  /// the same for all.
  static let sequenceMap = ONNXControl(name: "SequenceMap") { operation, source, scope in
    let body = try operation.graph("body")
    guard case .sequence(let first)?? = operation.entities.first, body.inputs.count == operation.entities.count,
      body.outputs.count == operation.node.outputs.count
    else { throw operation.emitter.invalid("expected a sequence, and the inputs and outputs of its body") }
    var results = [[ValueID]](repeating: [], count: body.outputs.count)
    for index in first.indices {
      let given = try operation.entities.map { entity -> ONNXEntity in
        switch entity {
        case .sequence(let elements)?:
          guard elements.count == first.count else {
            throw operation.emitter.invalid("its sequences have \(first.count) and \(elements.count) elements")
          }
          return .tensor(elements[index])
        case .tensor(let id)?: return .tensor(id)
        case .absent?, nil: throw operation.emitter.invalid("an input is missing")
        }
      }
      try scope.unroll(body)
      let made = try scope.inside(body) {
        for (info, entity) in zip(body.inputs, given) { try scope.define(info.name, entity, by: "body") }
        return try source.outputs(of: body, operation, scope)
      }
      for (place, value) in made.enumerated() { results[place].append(value) }
    }
    return results.map { .sequence($0) }
  }
}

extension ONNXOperation {
  /// Emits the iterations of a loop one after another: each may carry other shapes, and sequences of other lengths.
  func unrolled(_ body: ONNXGraph, _ source: ONNXGraphSource, _ scope: ONNXScope) throws -> [ONNXEntity] {
    let carriedCount = node.inputs.count - 2
    guard carriedCount >= 0, body.inputs.count == carriedCount + 2, body.outputs.count > carriedCount else {
      throw emitter.invalid(
        "its body has \(body.inputs.count) inputs and \(body.outputs.count) outputs for \(node.inputs.count) inputs")
    }
    let (origin, names) = (emitter.origin, emitter.outputNames)
    let limit = try constantIntegers(0, "number of iterations")?.first
    var goesOn = try constantNumber(1, "condition").map { $0 != 0 } ?? true
    var carried = try entities.dropFirst(2).map { entity in
      guard let entity else { throw emitter.invalid("a value that it carries is missing") }
      return entity
    }
    var rows = [[ValueID]](repeating: [], count: body.outputs.count - 1 - carriedCount)
    var trip = 0
    while goesOn, limit.map({ trip < $0 }) ?? true {
      try scope.unroll(body)
      let isVector = body.inputs[0].sizes?.count == 1
      let number = emitter.constant(integers: [trip], .int64, shape: isVector ? [1] : [])
      let truth = emitter.constant(1, .bool, step: "goes_on")
      let results = try scope.inside(body) {
        let given = [.tensor(number), .tensor(truth)] + carried
        for (info, entity) in zip(body.inputs, given) { try scope.define(info.name, entity, by: "body") }
        return try source.entities(of: body, self, scope)
      }
      emitter.begin(origin, outputNames: names)
      guard case .tensor(let condition) = results[0], let known = try emitter.number(condition) else {
        throw unsupported(
          "it carries sequences or optional values, and its number of iterations depends on data",
          remedy: "give it a number of iterations")
      }
      goesOn = known != 0
      carried = Array(results.dropFirst().prefix(carriedCount))
      for (place, result) in results.dropFirst(1 + carriedCount).enumerated() {
        guard case .tensor(let row) = result else { throw emitter.invalid("a scan output is not a tensor") }
        rows[place].append(row)
      }
      trip += 1
    }
    guard rows.isEmpty || trip > 0 else { throw unsupported("it has scan outputs but no iteration") }
    return carried + (try rows.map { .tensor(try emitter.stack($0, axis: 0)) })
  }
}
