import KelvinGraph
import KelvinImport

extension NetworkWriter {
  /// Emits a loop.
  ///
  /// The condition's network is emitted before the loop and at the end of its body. A tensor that the body computes
  /// first is carried if a layer after the loop reads it, and is zero if no iteration computed it.
  func loop(_ layer: NetworkLayer, readLater: Set<String>) throws {
    begin(layer)
    let (test, body) = (layer.networks[0], layer.networks[1])
    let hasTest = !layer.condition.isEmpty
    guard hasTest || test.isEmpty else {
      throw emitter.invalid("does not name the output of its condition network")
    }
    let limit = try limit(layer, isConditional: hasTest)
    let broken = body.mayBreak ? "\(layer.name)#broken\(emitter.depth)" : nil
    let own = Set([broken].compactMap { $0 })
    // An iteration ends after the condition's network.
    let atEnd = readLater.union(layer.readsOfIterations).union(own)
    let behindTest = hasTest ? atEnd.union([layer.condition]) : atEnd
    let behindBody = test.reads(before: behindTest, leaving: []).union(broken == nil ? [] : readLater)
    try defineFirstValues(of: layer, broken, behindTest: behindTest, behindBody: behindBody, readLater: readLater)
    var inside = self
    (inside.isNested, inside.loop) = (true, nil)
    var start: ValueID?
    if hasTest {
      _ = try inside.write(test[...], readLater: behindTest)
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
    inside.loop = EnclosingLoop(broken: broken ?? "", readLater: behindBody)
    let region = try emitter.region(.body) {
      _ = try emitter.input("\(layer.name)/trip", TensorType(.int64, []))
      let given = try zip(carried, types).map { try emitter.input("\(layer.name)/\($0)", $1) }
      return try scope.inside {
        for (name, id) in zip(carried, given) { scope.redefine(name, Blob(id, emitter.shape(id))) }
        _ = try inside.write(body[...], readLater: behindBody)
        let goesOn = try goesOn(layer, broken, readLater: behindTest)
        let results = try carried.map { try settled($0) }
        for (name, (result, type)) in zip(carried, zip(results, types)) where emitter.type(result) != type {
          let error = FormatError(
            .unsupported, file: file, place: "loop '\(layer.name)'",
            "it carries '\(name)' as \(type) and its body gives \(emitter.type(result)): sizes that change are not "
              + "supported here", remedy: "give the tensor its final size from the start")
          throw DynamicShapeControlFlow(layer.name, error)
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

  /// Defines zeros for tensors that only the loop's networks compute, if they may be read undefined: by an iteration
  /// before a previous one computed them, or after a loop that ended before.
  private func defineFirstValues(
    of layer: NetworkLayer, _ broken: String?, behindTest: Set<String>, behindBody: Set<String>, readLater: Set<String>
  ) throws {
    let (test, body) = (layer.networks[0], layer.networks[1])
    let (tested, trip) = (test.effect.onwards ?? [], body.effect)
    let reads = layer.readsOfIterations
    let open = test.computed.union(body.computed).intersection(reads.union(readLater)).subtracting(tested).filter {
      name in
      let isSure = [trip.onwards, trip.leaving].allSatisfy { $0?.contains(name) ?? true }
      return !scope.has(name) && (reads.contains(name) || !isSure)
    }
    guard !open.isEmpty else { return }
    var writer = self
    (writer.isNested, writer.loop) = (true, nil)
    let types = try trial(open) { [writer] in
      _ = try writer.write(test[...], readLater: behindTest)
      if let broken { scope.redefine(broken, number(0)) }
      var inside = writer
      inside.loop = EnclosingLoop(broken: broken ?? "", readLater: behindBody, isTrial: true)
      _ = try inside.write(body[...], readLater: behindBody.union(open))
    }
    defineZeros(types)
  }

  /// Returns the greatest number of iterations; -1 if only the condition ends the loop.
  private func limit(_ layer: NetworkLayer, isConditional: Bool) throws -> ValueID {
    guard layer.inputs.isEmpty else {
      let given = try LayerContext(layer: layer, scope: scope).raw(0)
      guard given.shape.count == 1 else {
        throw emitter.invalid("its number of iterations is \(given.shape), expected one element")
      }
      // A fractional limit is rounded up: the loop continues while the number of iterations is less.
      let isWhole = !emitter.scalar(given.id).isFloatingPoint
      let whole = isWhole ? given.id : try emitter.unary(UnaryFunction(.ceil), given.id, step: "limit")
      let trips = try emitter.reshape(try emitter.cast(whole, to: .int64, step: "limit"), [], step: "limit")
      return try emitter.tripLimit(trips)
    }
    let limit = try layer.parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations) ?? 0
    return emitter.constant(integers: [limit == 0 && isConditional ? -1 : limit], .int64, shape: [])
  }

  /// Returns the value at the end of an iteration that tells whether there is another; nil if only the limit ends the
  /// loop.
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
