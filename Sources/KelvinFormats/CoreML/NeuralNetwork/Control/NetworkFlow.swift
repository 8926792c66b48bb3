#if CoreML
/// What can be said of layers before they are written.
extension NetworkLayer {
  fileprivate typealias Layers = NetworkSchema.NeuralNetworkLayer

  static let controlLayers = [Layers.branch, Layers.loop, Layers.loopBreak, Layers.loopContinue]

  var isControl: Bool { Self.controlLayers.contains(number) }

  fileprivate var leaves: Bool { number == Layers.loopBreak || number == Layers.loopContinue }
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

  /// The tensors whose values before these layers matter to them or to what follows.
  ///
  /// - Parameters:
  ///   - later: what is read behind them.
  ///   - leaving: what is read behind the end of a trip of the loop around.
  func reads(before later: Set<String>, leaving: Set<String>) -> Set<String> {
    var needed = later
    for layer in reversed() {
      switch layer.number {
      case Layers.loopBreak, Layers.loopContinue: needed = leaving
      case Layers.branch:
        let sides = layer.networks.map { $0.reads(before: needed, leaving: leaving) }
        needed = sides.reduce(Set(layer.inputs)) { $0.union($1) }
      case Layers.loop: needed.formUnion(layer.readsOfLoop)
      case _ where layer.setting?.unlessThere == true: continue
      default:
        needed.subtract(layer.outputs)
        needed.formUnion(layer.inputs)
      }
    }
    return needed
  }
}

extension NetworkLayer {
  /// What a loop itself reads, each trip anew: of what was there before it and of what the trip before computed.
  var readsOfLoop: Set<String> {
    let condition: Set<String> = self.condition.isEmpty ? [] : [self.condition]
    return networks.reduce(condition.union(inputs)) { $0.union($1.reads(before: [], leaving: [])) }
  }
}
#endif
