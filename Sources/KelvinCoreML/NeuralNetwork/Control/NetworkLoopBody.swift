import KelvinImport

/// A loop's body without breaks and continues: what follows one is on the sides of branches that do not come to it.
///
/// Where both sides of a branch may go on, each has what follows it.
struct NetworkLoopBody {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// The tensor that is 1 until a break sets it to 0; nil where the body has none.
  let unbroken: String?
  let layers: [NetworkLayer]
  /// How many layers there may be twice.
  private static let copyLimit = 4096

  /// Nil where branches would lie in each other too deep to be looked into, or too many layers would be there twice.
  ///
  /// - Parameter depth: in how many networks the body lies, so that a loop inside has another tensor.
  init?(_ body: [NetworkLayer], of loop: NetworkLayer, depth: Int) {
    let unbroken = "\(loop.name)#unbroken\(depth)"
    var copies = 0
    guard let layers = Self.layers(body[...], unbroken, depth, &copies) else { return nil }
    (self.unbroken, self.layers) = (body.mayBreak ? unbroken : nil, layers)
  }

  private static func layers(
    _ layers: ArraySlice<NetworkLayer>, _ unbroken: String, _ depth: Int, _ copies: inout Int
  ) -> [NetworkLayer]? {
    guard depth <= StagedControlFlow.depthLimit else { return nil }
    for index in layers.indices {
      let layer = layers[index]
      let before = layers[..<index]
      switch layer.number {
      case Layers.loopBreak: return before + [NetworkLayer(setting: unbroken, to: 0, beside: layer)]
      case Layers.loopContinue: return Array(before)
      case Layers.branch where layer.networks.contains(where: \.mayLeave):
        let rest = layers[(index + 1)...]
        if !layer.networks.contains(where: \.alwaysLeave) { copies += rest.total }
        guard copies <= copyLimit else { return nil }
        var (branch, sides): (NetworkLayer, [[NetworkLayer]]) = (layer, [])
        for side in layer.networks {
          guard let side = Self.layers((side + rest)[...], unbroken, depth + 1, &copies) else { return nil }
          sides.append(side)
        }
        branch.networks = sides
        return before + [branch]
      default: continue
      }
    }
    return Array(layers)
  }
}

extension Collection<NetworkLayer> {
  /// How many layers they are with those inside them.
  fileprivate var total: Int { reduce(0) { $0 + 1 + $1.networks.reduce(0) { $0 + $1.total } } }
}
