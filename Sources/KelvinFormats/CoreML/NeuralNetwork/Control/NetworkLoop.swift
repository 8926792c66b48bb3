#if CoreML
import KelvinGraph

extension NetworkWriter {
  /// The condition's network is written before the loop and at the end of its body. A tensor that the body computes
  /// first is carried for the sake of what reads it behind the loop, and is zero where no trip was made.
  func loop(_ layer: NetworkLayer, readLater: Set<String>) throws {
    begin(layer)
    let (test, body) = (layer.networks[0], layer.networks[1])
    let hasTest = !layer.condition.isEmpty
    guard hasTest || test.isEmpty else {
      throw emitter.invalid("does not name the tensor in which its condition network says whether to go on")
    }
    let limit = try limit(layer, isConditional: hasTest)
    let broken = body.mayBreak ? "\(layer.name)#broken" : nil
    let own = Set([broken].compactMap { $0 })
    let atEnd = readLater.union(layer.readsOfLoop).union(own)
    var inside = self
    (inside.isNested, inside.loop) = (true, nil)
    var start: ValueID?
    if hasTest {
      _ = try inside.write(test[...], readLater: atEnd)
      begin(layer)
      start = try truth(try scope.read(layer.condition), step: "condition")
    }
    if let broken {
      scope.redefine(broken, number(0))
      start = start ?? flag(true, step: "condition")
    }
    let computed = test.computed.union(body.computed).union(own)
    let carried = computed.intersection(atEnd).filter { scope.has($0) }.sorted()
    let made = computed.intersection(readLater).filter { !scope.has($0) }.sorted()
    let first = try carried.map { try settled($0) }
    let types = first.map { emitter.type($0) }
    var madeTypes: [TensorType] = []
    inside.loop = EnclosingLoop(broken: broken ?? "", readLater: atEnd)
    let region = try emitter.region(.body) {
      _ = try emitter.input("\(layer.name)/trip", TensorType(.int64, []))
      let given = try zip(carried, types).map { try emitter.input("\(layer.name)/\($0)", $1) }
      return try scope.inside {
        for (name, id) in zip(carried, given) { scope.redefine(name, Blob(id, emitter.shape(id))) }
        _ = try inside.write(body[...], readLater: atEnd)
        let goesOn = try goesOn(layer, broken, readLater: atEnd)
        let results = try carried.map { try settled($0) }
        for (name, (result, type)) in zip(carried, zip(results, types)) where emitter.type(result) != type {
          throw FormatError(
            .unsupported, file: file, place: "loop '\(layer.name)'",
            "it carries '\(name)' as \(type) and its body gives \(emitter.type(result)): sizes that change are not "
              + "supported", remedy: "give the tensor the size from the start that it has at the end")
        }
        let last = try made.map { try madeInside($0) }
        madeTypes = last.map { emitter.type($0) }
        for (name, type) in zip(made, madeTypes) { _ = try emitter.input("\(layer.name)/\(name)", type) }
        return [goesOn].compactMap { $0 } + results + last
      }
    }
    let zeros = madeTypes.map { emitter.zeros($0, step: "none") }
    let op = Loop(carriedCount: carried.count + made.count, isConditional: start != nil)
    let results = try emitter.addControl(
      op, [limit] + [start].compactMap { $0 } + first + zeros, [region], results: carried.count + made.count + 1)
    for (name, id) in zip(carried + made, results) { scope.redefine(name, Blob(id, emitter.shape(id))) }
  }

  /// How many trips at most; -1 where only the condition says.
  private func limit(_ layer: NetworkLayer, isConditional: Bool) throws -> ValueID {
    guard layer.inputs.isEmpty else {
      let given = try layer.raw(0, scope)
      guard given.shape.count == 1 else {
        throw emitter.invalid("its number of trips is \(given.shape), expected one element")
      }
      return try emitter.reshape(try emitter.cast(given.id, to: .int64, step: "limit"), [], step: "limit")
    }
    let limit = try layer.parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations) ?? 0
    return emitter.constant(integers: [limit == 0 && isConditional ? -1 : limit], .int64, shape: [])
  }

  /// Whether there is another trip, at the end of one; nil where only the limit says.
  private func goesOn(_ layer: NetworkLayer, _ broken: String?, readLater: Set<String>) throws -> ValueID? {
    begin(layer)
    let hasTest = !layer.condition.isEmpty
    let isUnbroken = try broken.map {
      try emitter.unary(
        UnaryFunction(.logicalNot), try truth(try scope.read($0), step: "is_broken"), step: "is_unbroken")
    }
    guard hasTest else { return isUnbroken }
    var writer = self
    (writer.isNested, writer.loop) = (true, nil)
    guard let isUnbroken else {
      _ = try writer.write(layer.networks[0][...], readLater: readLater)
      begin(layer)
      return try truth(try scope.read(layer.condition), step: "goes_on")
    }
    let name = "\(layer.name)#goes_on"
    try writer.write(
      layer.networks[0], where: isUnbroken, giving: name, from: layer.condition, layer, readLater: readLater)
    return try truth(try scope.read(name), step: "goes_on")
  }

  private func madeInside(_ name: String) throws -> ValueID {
    guard scope.has(name) else { throw leftWithout(name) }
    return try settled(name)
  }
}
#endif
