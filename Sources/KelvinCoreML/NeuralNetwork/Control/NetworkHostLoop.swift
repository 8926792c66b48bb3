import KelvinGraph
import KelvinImport

/// A loop that the host executes, one iteration after another. The condition's network runs before the loop and at the
/// end of each iteration.
struct NetworkHostLoop {
  let name: String
  /// The network before the loop, which produces the initial values.
  let start: NetworkTensors
  let body: NetworkTensors
  /// The carried tensors; a result is the tensor's name.
  let carried: [LoopPart.Carried]
  /// The slots with the greatest number of iterations, with whether there is a first iteration (both produced by
  /// `start`), and with whether there is another iteration (produced by `body`). Nil for a slot that the loop does not
  /// have.
  let (limit, condition, goesOn): (String?, String?, String?)
  private let mustRunOnHost: Bool

  /// Returns nil for other layers, and if the breaks and continues of the body would duplicate too many layers. A
  /// tensor that only the body computes, and that is read after the loop, is a single 0 if no iteration computed it.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors, readLater: Set<String>, depth: Int) {
    guard layer.number == Layers.loop, !layer.networks[0].mayLeave else { return nil }
    let test = layer.networks[0]
    let isConditional = !layer.condition.isEmpty
    guard isConditional || test.isEmpty, let trip = NetworkLoopBody(layer.networks[1], of: layer, depth: depth) else {
      return nil
    }
    let computed = test.computed.union(layer.networks[1].computed)
    let atEnd = readLater.union(layer.readsOfIterations).intersection(computed)
    var start = outer.inside(layer, ".start")
    // The condition's network occurs twice.
    let testDepth = depth + StagedControlFlow.repeatedDepth - 1
    start.add(test, readLater: atEnd.union([layer.condition]), depth: testDepth)
    let made = computed.intersection(readLater).sorted().map {
      NetworkLayer(setting: $0, to: 0, unlessThere: true, beside: layer)
    }
    start.add(made, readLater: atEnd)
    let isUnbroken = trip.unbroken.map { NetworkLayer(setting: $0, to: 1, beside: layer) }
    start.add([isUnbroken].compactMap { $0 }, readLater: atEnd)
    var inside = outer.inside(layer)
    let names = atEnd.filter(start.has).sorted()
    let given = names.map { inside.define($0) }
    let end = Self.end(of: layer, trip)
    let readAtEnd = atEnd.union([end.goesOn].compactMap { $0 })
    inside.add(
      [isUnbroken].compactMap { $0 } + trip.layers,
      readLater: end.layers[...].reads(before: readAtEnd, leaving: []), depth: depth)
    inside.add(end.layers, readLater: readAtEnd, depth: testDepth)
    if let limit = layer.inputs.first {
      self.limit = start.leave(.tensor(limit))
    } else {
      guard let most = try? layer.parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations) ?? 0 else {
        return nil
      }
      limit = most == 0 && isConditional ? nil : start.leave(.number(most))
    }
    condition = isConditional ? start.leave(.truth(layer.condition)) : trip.unbroken.map { start.leave(.truth($0)) }
    goesOn = end.goesOn.map { inside.leave(.truth($0)) }
    carried = zip(names, given).map { name, given in
      LoopPart.Carried(
        start: start.leave(.tensor(name)), given: given, left: inside.leave(.tensor(name)), result: name)
    }
    (name, mustRunOnHost) = (layer.name, layer.mustRunOnHost)
    (self.start, self.body) = (start, inside)
  }

  /// Returns the layers after an iteration, and the tensor that tells whether there is another.
  private static func end(of layer: NetworkLayer, _ trip: NetworkLoopBody) -> (layers: [NetworkLayer], goesOn: String?)
  {
    let test = layer.networks[0]
    guard let unbroken = trip.unbroken else { return (test, layer.condition.isEmpty ? nil : layer.condition) }
    guard !layer.condition.isEmpty else { return ([], unbroken) }
    // After a break the condition is not evaluated.
    let goesOn = "\(unbroken)#goes_on"
    var branch = NetworkLayer(Layers.branch, beside: layer, [unbroken])
    branch.networks = [
      test + [NetworkLayer(Layers.copy, beside: layer, [layer.condition], [goesOn])],
      [NetworkLayer(setting: goesOn, to: 0, beside: layer)],
    ]
    return ([branch], goesOn)
  }

  var staged: StagedLoop {
    StagedLoop(
      body: StagedBlock(operations: body.operations, outputs: body.left), given: [], carried: carried, goesOn: goesOn,
      grows: mustRunOnHost || carried.contains { body.joins($0.given, into: $0.left) })
  }
}
