#if CoreML
import KelvinGraph

extension NetworkWriter {
  /// One of two ways to go on.
  private struct Path {
    var computed: Set<String>
    var mayLeave: Bool
    /// What it has computed for sure at its end; nil where it does not come there.
    var surely: Set<String>?
    var missing = MissingOperations()
    var write: () throws -> End
  }

  func branch(_ layer: NetworkLayer, readLater: Set<String>) throws -> End {
    begin(layer)
    var condition = try truth(try layer.raw(0, scope), step: "condition")
    var sides = layer.networks
    // The side that goes on is first: it says what type a tensor has that the other has no value for.
    if sides[0].alwaysLeave, !sides[1].alwaysLeave {
      sides.reverse()
      condition = try emitter.unary(UnaryFunction(.logicalNot), condition, step: "otherwise")
    }
    var writer = self
    writer.isNested = true
    let paths = sides.map { layers in
      var missing = MissingOperations()
      NetworkStage.findMissing(in: layers, &missing)
      let broken = layers.mayBreak ? loop?.broken : nil
      return Path(
        computed: layers.computed.union([broken].compactMap { $0 }), mayLeave: layers.mayLeave,
        surely: layers.effect.onwards, missing: missing
      ) { [writer] in try writer.write(layers[...], readLater: readLater) }
    }
    return try either(condition, paths[0], paths[1], layer, readLater: readLater)
  }

  /// Writes what follows a branch in whose sides the trip may have ended.
  func write(
    _ rest: ArraySlice<NetworkLayer>, unless hasLeft: ValueID, _ layer: NetworkLayer, readLater: Set<String>
  ) throws -> End {
    let goesOn = try emitter.unary(UnaryFunction(.logicalNot), hasLeft, step: "goes_on")
    var writer = self
    writer.isNested = true
    let broken = rest.mayBreak ? loop?.broken : nil
    let onwards = Path(
      computed: rest.computed.union([broken].compactMap { $0 }), mayLeave: rest.mayLeave, surely: rest.effect.onwards
    ) { [writer] in try writer.write(rest, readLater: readLater) }
    return try either(
      goesOn, onwards, Path(computed: [], mayLeave: true) { .left }, layer, readLater: readLater)
  }

  /// Writes a network where a condition holds; where not, a tensor is 0 instead.
  func write(
    _ network: [NetworkLayer], where condition: ValueID, giving name: String, from source: String,
    _ layer: NetworkLayer,
    readLater: Set<String>
  ) throws {
    var writer = self
    (writer.isNested, writer.loop) = (true, nil)
    let surely = (network.effect.onwards ?? []).union([name])
    let first = Path(computed: network.computed.union([name]), mayLeave: false, surely: surely) { [writer] in
      let end = try writer.write(network[...], readLater: readLater.union([source]))
      scope.redefine(name, try scope.read(source))
      return end
    }
    let second = Path(computed: [name], mayLeave: false, surely: [name]) {
      scope.redefine(name, number(0))
      return .onwards
    }
    _ = try either(condition, first, second, layer, readLater: readLater.union([name]))
  }

  private func either(
    _ condition: ValueID, _ first: Path, _ second: Path, _ layer: NetworkLayer, readLater: Set<String>
  ) throws -> End {
    let names = first.computed.union(second.computed).intersection(readLater).sorted()
    let mayLeave = first.mayLeave || second.mayLeave
    guard mayLeave || !names.isEmpty else { return .onwards }
    try defineFirstValues(of: names, [first, second])
    let isKnown = try emitter.number(condition) != nil
    var ends: [End] = []
    var types: [TensorType]?
    func side(_ path: Path) -> Emitter.Side {
      Emitter.Side(missing: path.missing) {
        try scope.inside {
          let end = try path.write()
          begin(layer)
          var results = try names.indices.map { try result(names[$0], end, types?[$0]) }
          types = types ?? results.map { emitter.type($0) }
          ends.append(end)
          if mayLeave { results.append(hasLeft(end)) }
          return results
        }
      }
    }
    let results = try emitter.branch(condition, then: side(first), otherwise: side(second), file: file)
    begin(layer)
    for (name, id) in zip(names, results) { scope.redefine(name, Blob(id, emitter.shape(id))) }
    guard mayLeave, let hasLeft = results.last else { return .onwards }
    if isKnown, let end = ends.first { return end }
    let leaves = ends.count == 2 && ends.allSatisfy { if case .left = $0 { true } else { false } }
    return leaves ? .left : .mayHaveLeft(hasLeft)
  }

  /// Gives zeros to what is not there and not computed on both paths, for where it is read after the other was taken.
  private func defineFirstValues(of names: [String], _ paths: [Path]) throws {
    var open = names.filter { name in !scope.has(name) && !paths.allSatisfy { $0.surely?.contains(name) ?? true } }
    for path in paths where !open.isEmpty {
      let types = try trial(open) { _ = try path.write() }
      defineZeros(types)
      open.removeAll { types[$0] != nil }
    }
  }

  /// A tensor at the end of a path. Where the path leaves the trip, what follows it in the trip does not read the
  /// tensor.
  private func result(_ name: String, _ end: End, _ type: TensorType?) throws -> ValueID {
    if scope.has(name) { return try settled(name) }
    guard case .left = end else {
      throw emitter.invalid(
        "'\(name)' is read later, and only one of its networks computes it; copy a first value to '\(name)' before it")
    }
    guard let type, let loop, loop.isTrial || !loop.readLater.contains(name) else { throw leftWithout(name) }
    return emitter.zeros(type, step: "none")
  }

  func leftWithout(_ name: String) -> GraphError {
    emitter.invalid(
      "'\(name)' is read behind the loop, and a trip may end before it is computed; copy a first value to '\(name)' "
        + "before the loop")
  }

  private func hasLeft(_ end: End) -> ValueID {
    switch end {
    case .onwards: flag(false, step: "has_left")
    case .left: flag(true, step: "has_left")
    case .mayHaveLeft(let id): id
    }
  }
}
#endif
