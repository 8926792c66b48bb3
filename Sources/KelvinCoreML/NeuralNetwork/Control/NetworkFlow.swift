import KelvinImport

/// What layers do to the tensors around them, whichever way is taken through the networks inside them.
struct NetworkEffect {
  /// The tensors whose values before them may matter to them.
  var reads: Set<String> = []
  /// What they have computed for sure when their end is reached; nil where it never is.
  var onwards: Set<String>? = []
  /// What they have computed for sure wherever they leave the trip of the loop around; nil where they never do.
  var leaving: Set<String>?

  /// Puts layers before these.
  ///
  /// It takes as many steps as the effect of those before names tensors, so that a network's effect, which is found from its
  /// end, takes as many as its layers name.
  fileprivate mutating func follow(_ before: NetworkEffect) {
    guard let computed = before.onwards else {
      self = before
      return
    }
    reads.subtract(computed)
    reads.formUnion(before.reads)
    onwards?.formUnion(computed)
    leaving?.formUnion(computed)
    leaving = Self.either(before.leaving, leaving)
  }

  /// What is computed for sure on two ways, of which either may not exist.
  fileprivate static func either(_ first: Set<String>?, _ second: Set<String>?) -> Set<String>? {
    guard let first, let second else { return first ?? second }
    return first.intersection(second)
  }
}

/// What can be said of layers before they are written.
extension NetworkLayer {
  fileprivate typealias Layers = NetworkSchema.NeuralNetworkLayer

  static let controlLayers = [Layers.branch, Layers.loop, Layers.loopBreak, Layers.loopContinue]

  var isControl: Bool { Self.controlLayers.contains(number) }

  fileprivate var leaves: Bool { number == Layers.loopBreak || number == Layers.loopContinue }

  var effect: NetworkEffect {
    switch number {
    case _ where leaves: return NetworkEffect(onwards: nil, leaving: [])
    case Layers.branch:
      let sides = networks.map(\.effect)
      return NetworkEffect(
        reads: sides.reduce(Set(inputs)) { $0.union($1.reads) },
        onwards: NetworkEffect.either(sides[0].onwards, sides[1].onwards),
        leaving: NetworkEffect.either(sides[0].leaving, sides[1].leaving))
    case Layers.loop:
      let (test, body) = (networks[0].effect, networks[1].effect)
      let tested = test.onwards ?? []
      let read = (condition.isEmpty ? body.reads : body.reads.union([condition])).subtracting(tested)
      let computed = makesATrip ? NetworkEffect.either(body.onwards, body.leaving) ?? [] : []
      return NetworkEffect(reads: test.reads.union(read).union(inputs), onwards: tested.union(computed))
    case _ where setting?.unlessThere == true: return NetworkEffect()
    default: return NetworkEffect(reads: Set(inputs), onwards: Set(outputs))
    }
  }

  /// Whether it is a loop whose number of trips is in the file, and not 0.
  private var makesATrip: Bool {
    let trips = try? parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations)
    return condition.isEmpty && inputs.isEmpty && (trips ?? 0) != 0
  }

  /// What a loop reads anew in each trip: of what was there before it and of what the trips before computed.
  var readsOfIterations: Set<String> { networks.reduce(Set()) { $0.union($1.effect.reads) } }
}

extension BidirectionalCollection<NetworkLayer> {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// The tensors that the layers and those inside them compute.
  var computed: Set<String> {
    reduce(into: []) { names, layer in
      names.formUnion(layer.outputs)
      for network in layer.networks { names.formUnion(network.computed) }
    }
  }

  /// Whether a layer of theirs may end a trip of the loop around, or the loop.
  var mayLeave: Bool {
    contains { $0.leaves || $0.number == Layers.branch && $0.networks.contains { $0.mayLeave } }
  }

  var mayBreak: Bool {
    contains {
      $0.number == Layers.loopBreak || $0.number == Layers.branch && $0.networks.contains { $0.mayBreak }
    }
  }

  /// Whether nothing that follows them in a trip is reached.
  var alwaysLeave: Bool {
    contains { $0.leaves || $0.number == Layers.branch && $0.networks.allSatisfy { $0.alwaysLeave } }
  }

  var effect: NetworkEffect { reversed().reduce(into: NetworkEffect()) { $0.follow($1.effect) } }

  /// The tensors whose values before these layers matter to them or to what follows.
  ///
  /// - Parameters:
  ///   - later: what is read behind them.
  ///   - leaving: what is read behind the end of a trip of the loop around.
  func reads(before later: Set<String>, leaving: Set<String>) -> Set<String> {
    let effect = effect
    let onwards = effect.onwards.map { later.subtracting($0) } ?? []
    return effect.reads.union(onwards).union(effect.leaving.map { leaving.subtracting($0) } ?? [])
  }
}
