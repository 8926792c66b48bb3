import KelvinImport

/// A loop's body without breaks and continues. The layers after a break or continue are moved into the sides of
/// branches that do not reach it.
///
/// If both sides of a branch may continue, the layers after it are duplicated into each.
struct NetworkLoopBody {
  /// The tensor that is 1 until a break sets it to 0; nil if the body has no breaks.
  let unbroken: String?
  let layers: [NetworkLayer]
  /// The greatest number of duplicated layers.
  private static let copyLimit = 4096

  /// Returns nil if branches would be nested too deeply for analysis, or too many layers would be duplicated.
  ///
  /// - Parameter depth: The number of networks around the body; it makes the names of nested loops' tensors unique.
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
  /// The number of layers, including nested ones.
  fileprivate var total: Int { reduce(0) { $0 + 1 + $1.networks.reduce(0) { $0 + $1.total } } }
}
