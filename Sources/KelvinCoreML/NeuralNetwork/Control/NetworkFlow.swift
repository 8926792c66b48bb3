import KelvinImport

/// The effect of layers on the tensors around them, on any path through their nested networks.
struct NetworkEffect {
  /// The tensors whose previous values the layers may depend on.
  var reads: Set<String> = []
  /// The tensors that the layers have certainly computed when their end is reached; nil if it is never reached.
  var onwards: Set<String>? = []
  /// The tensors that the layers have certainly computed whenever they leave the iteration of the enclosing loop; nil
  /// if they never leave it.
  var leaving: Set<String>?

  /// Prepends the effect of preceding layers.
  ///
  /// The time is linear in the number of tensors that the effect of the preceding layers names. The effect of a network
  /// is accumulated from its end, so its total time is linear in the number of names in its layers.
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

  /// Returns the tensors that are certainly computed on both paths. Nil stands for a path that does not exist.
  fileprivate static func either(_ first: Set<String>?, _ second: Set<String>?) -> Set<String>? {
    guard let first, let second else { return first ?? second }
    return first.intersection(second)
  }
}

/// Properties of layers that are known before the layers are emitted.
extension NetworkLayer {
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
      let computed = runsAtLeastOnce ? NetworkEffect.either(body.onwards, body.leaving) ?? [] : []
      return NetworkEffect(reads: test.reads.union(read).union(inputs), onwards: tested.union(computed))
    case _ where setting?.unlessThere == true: return NetworkEffect()
    default: return NetworkEffect(reads: Set(inputs), onwards: Set(outputs))
    }
  }

  /// Whether the layer is a loop with a nonzero number of iterations in the file.
  private var runsAtLeastOnce: Bool {
    let trips = try? parameters.integer(LayerSchema.LoopLayerParams.maxLoopIterations)
    return condition.isEmpty && inputs.isEmpty && (trips ?? 0) != 0
  }

  /// The tensors that each iteration of a loop reads: values from before the loop or from previous iterations.
  var readsOfIterations: Set<String> { networks.reduce(Set()) { $0.union($1.effect.reads) } }
}

extension BidirectionalCollection<NetworkLayer> {
  /// The tensors that the layers and their nested layers compute.
  var computed: Set<String> {
    reduce(into: []) { names, layer in
      names.formUnion(layer.outputs)
      for network in layer.networks { names.formUnion(network.computed) }
    }
  }

  /// Whether a layer may end an iteration of the enclosing loop, or the loop.
  var mayLeave: Bool {
    contains { $0.leaves || $0.number == Layers.branch && $0.networks.contains { $0.mayLeave } }
  }

  var mayBreak: Bool {
    contains {
      $0.number == Layers.loopBreak || $0.number == Layers.branch && $0.networks.contains { $0.mayBreak }
    }
  }

  /// Whether the layers after these in an iteration are unreachable.
  var alwaysLeave: Bool {
    contains { $0.leaves || $0.number == Layers.branch && $0.networks.allSatisfy { $0.alwaysLeave } }
  }

  var effect: NetworkEffect { reversed().reduce(into: NetworkEffect()) { $0.follow($1.effect) } }

  /// Returns the tensors whose values before these layers matter to the layers or to their successors.
  ///
  /// - Parameters:
  ///   - later: The tensors that are read after the layers.
  ///   - leaving: The tensors that are read after the end of an iteration of the enclosing loop.
  func reads(before later: Set<String>, leaving: Set<String>) -> Set<String> {
    let effect = effect
    let onwards = effect.onwards.map { later.subtracting($0) } ?? []
    return effect.reads.union(onwards).union(effect.leaving.map { leaving.subtracting($0) } ?? [])
  }
}
