import KelvinGraph
import KelvinImport

extension NetworkWriter {
  /// One of the two alternatives of a branch.
  private struct Path {
    var mayCompute: (String) -> Bool
    var mayLeave: Bool
    /// Whether the path has certainly computed a tensor when its end is reached.
    var surelyComputes: (String) -> Bool
    var missing = MissingOperations()
    var write: () throws -> End
  }

  func branch(_ layer: NetworkLayer, readLater: Set<String>) throws -> End {
    begin(layer)
    var condition = try truth(try LayerContext(layer: layer, scope: scope).raw(0), step: "condition")
    var sides = layer.networks
    // The side that continues comes first: it gives the types of tensors for which the other side has no value.
    if sides[0].alwaysLeave, !sides[1].alwaysLeave {
      sides.reverse()
      condition = try emitter.unary(UnaryFunction(.logicalNot), condition, step: "otherwise")
    }
    var writer = self
    writer.isNested = true
    let paths = sides.map { layers in
      var missing = MissingOperations()
      NetworkStage.findMissing(in: layers, &missing)
      return path(NetworkTensorUses(layers), from: 0, missing) { [writer] in
        try writer.write($0, from: 0, readLater: readLater)
      }
    }
    return try either(condition, paths[0], paths[1], layer, readLater: readLater)
  }

  /// Emits the layers after a branch whose sides may have ended the iteration.
  func write(
    _ layers: NetworkTensorUses, from start: Int, unless hasLeft: ValueID, _ layer: NetworkLayer, readLater: Set<String>
  ) throws -> End {
    let goesOn = try emitter.unary(UnaryFunction(.logicalNot), hasLeft, step: "goes_on")
    var writer = self
    writer.isNested = true
    let onwards = path(layers, from: start) { [writer] in try writer.write($0, from: start, readLater: readLater) }
    let left = Path(mayCompute: { _ in false }, mayLeave: true, surelyComputes: { _ in true }) { .left }
    return try either(goesOn, onwards, left, layer, readLater: readLater)
  }

  private func path(
    _ layers: NetworkTensorUses, from start: Int, _ missing: MissingOperations = MissingOperations(),
    _ write: @escaping (NetworkTensorUses) throws -> End
  ) -> Path {
    let broken = layers.mayBreak(from: start) ? loop?.broken : nil
    return Path(
      mayCompute: { $0 == broken || layers.mayCompute($0, from: start) }, mayLeave: layers.mayLeave(from: start),
      surelyComputes: { layers.surelyCompute($0, from: start) }, missing: missing
    ) { try write(layers) }
  }

  /// Emits a network that runs if a condition holds; otherwise a tensor is 0.
  func write(
    _ network: [NetworkLayer], where condition: ValueID, giving name: String, from source: String,
    _ layer: NetworkLayer,
    readLater: Set<String>
  ) throws {
    var writer = self
    (writer.isNested, writer.loop) = (true, nil)
    let layers = NetworkTensorUses(network)
    let first = Path(
      mayCompute: { $0 == name || layers.mayCompute($0, from: 0) }, mayLeave: false,
      surelyComputes: { $0 == name || layers.surelyCompute($0, from: 0) }
    ) { [writer] in
      let end = try writer.write(layers, from: 0, readLater: readLater.union([source]))
      scope.redefine(name, try scope.read(source))
      return end
    }
    let second = Path(mayCompute: { $0 == name }, mayLeave: false, surelyComputes: { $0 == name }) {
      scope.redefine(name, number(0))
      return .onwards
    }
    _ = try either(condition, first, second, layer, readLater: readLater.union([name]))
  }

  private func either(
    _ condition: ValueID, _ first: Path, _ second: Path, _ layer: NetworkLayer, readLater: Set<String>
  ) throws -> End {
    let names = readLater.filter { first.mayCompute($0) || second.mayCompute($0) }.sorted()
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
    let results = try emitter.branch(
      condition, then: side(first), otherwise: side(second), file: file, flow: layer.name)
    begin(layer)
    for (name, id) in zip(names, results) { scope.redefine(name, Blob(id, emitter.shape(id))) }
    guard mayLeave, let hasLeft = results.last else { return .onwards }
    if isKnown, let end = ends.first { return end }
    let leaves = ends.count == 2 && ends.allSatisfy { if case .left = $0 { true } else { false } }
    return leaves ? .left : .mayHaveLeft(hasLeft)
  }

  /// Defines zeros for tensors that are undefined before the branch and not computed on both paths, because a layer
  /// after the branch may read them.
  private func defineFirstValues(of names: [String], _ paths: [Path]) throws {
    var open = names.filter { name in !scope.has(name) && !paths.allSatisfy { $0.surelyComputes(name) } }
    for path in paths where !open.isEmpty {
      let types = try trial(open) { _ = try path.write() }
      defineZeros(types)
      open.removeAll { types[$0] != nil }
    }
  }

  /// Returns a tensor at the end of a path. If the path leaves the iteration, the rest of the iteration does not read
  /// the tensor.
  private func result(_ name: String, _ end: End, _ type: TensorType?) throws -> ValueID {
    if scope.has(name) { return try settled(name) }
    guard case .left = end else {
      throw emitter.invalid(
        "'\(name)' is read later, but only one of its networks computes it\(triedAll); copy an initial value to"
          + " '\(name)' before it")
    }
    guard let type, let loop, loop.isTrial || !loop.readLater.contains(name) else { throw leftWithout(name) }
    return emitter.zeros(type, step: "none")
  }

  func leftWithout(_ name: String) -> GraphError {
    emitter.invalid(
      "'\(name)' is read after the loop, but an iteration may end before it is computed\(triedAll); copy an initial"
        + " value to '\(name)' before the loop")
  }

  private var triedAll: String {
    scope.hasTriedAll
      ? " (its size is found by trial emission of layers, which has reached its limit, "
        + "\(LayerScope.trialLimit))" : ""
  }

  private func hasLeft(_ end: End) -> ValueID {
    switch end {
    case .onwards: flag(false, step: "has_left")
    case .left: flag(true, step: "has_left")
    case .mayHaveLeft(let id): id
    }
  }
}
