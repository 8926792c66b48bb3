#if CoreML
/// A loop as trips that are made one after another. The condition's network stands before the loop and at the end of a trip.
struct NetworkWalkedLoop {
  struct Carried {
    let name: String
    let start: String
    let given: String
    let left: String
  }

  let name: String
  /// What stands before the loop, and leaves what the first trip begins with.
  let start: NetworkTensors
  let body: NetworkTensors
  let carried: [Carried]
  /// The slots with how many trips there are at most and whether there is a first one, which `start` leaves, and with
  /// whether there is another, which `body` does; nil where nothing says.
  let (limit, condition, goesOn): (String?, String?, String?)

  /// Nil of other layers, where a trip may be left on its way, and where a tensor that is read behind the loop is not there
  /// before it: without a trip nothing says of what size it is.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors, readLater: Set<String>, depth: Int) {
    guard layer.number == NetworkSchema.NeuralNetworkLayer.loop, !layer.networks.contains(where: \.mayLeave) else {
      return nil
    }
    let (test, body) = (layer.networks[0], layer.networks[1])
    let isConditional = !layer.condition.isEmpty
    guard isConditional || test.isEmpty else { return nil }
    let computed = test.computed.union(body.computed)
    let atEnd = readLater.union(layer.readsOfLoop).intersection(computed)
    var start = outer.inside(layer, ".start")
    start.add(test, readLater: atEnd, depth: depth)
    guard computed.intersection(readLater).allSatisfy(start.has) else { return nil }
    var inside = outer.inside(layer)
    let names = atEnd.filter(start.has).sorted()
    let given = names.map { inside.define($0) }
    inside.add(body, readLater: atEnd, depth: depth)
    inside.add(test, readLater: atEnd, depth: depth)
    if let limit = layer.inputs.first {
      self.limit = start.leave(.tensor(limit))
    } else {
      guard let most = try? layer.parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations) ?? 0 else {
        return nil
      }
      limit = most == 0 && isConditional ? nil : start.leave(.number(most))
    }
    condition = isConditional ? start.leave(.truth(layer.condition)) : nil
    goesOn = isConditional ? inside.leave(.truth(layer.condition)) : nil
    carried = zip(names, given).map { name, given in
      Carried(name: name, start: start.leave(.tensor(name)), given: given, left: inside.leave(.tensor(name)))
    }
    name = layer.name
    (self.start, self.body) = (start, inside)
  }

  var staged: StagedLoop {
    StagedLoop(
      body: StagedBlock(operations: body.operations, outputs: body.left), given: [],
      carried: carried.map { StagedLoop.Carried(start: $0.start, given: $0.given, left: $0.left) }, goesOn: goesOn,
      grows: carried.contains { body.joins($0.given, into: $0.left) })
  }
}
#endif
