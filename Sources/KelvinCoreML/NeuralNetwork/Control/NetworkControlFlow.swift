import KelvinImport

/// A loop or branch of a network whose iterations or sides can be separate parts, or a custom layer.
enum NetworkControlFlow {
  case loop(NetworkHostLoop)
  case branch(NetworkHostBranch)
  case custom(NetworkCustomLayer)

  /// Returns nil if the host cannot execute the layer. The layer is then a node of a graph, or graph building refuses
  /// it.
  ///
  /// - Parameters:
  ///   - outer: The tensors before the layer.
  ///   - readLater: The tensors that layers after it read.
  ///   - depth: The number of networks around the layer.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors, readLater: Set<String>, depth: Int) {
    guard depth < StagedControlFlow.depthLimit else { return nil }
    if let custom = NetworkCustomLayer(layer, in: outer) {
      self = .custom(custom)
    } else if let loop = NetworkHostLoop(layer, in: outer, readLater: readLater, depth: depth + 1) {
      self = .loop(loop)
    } else if let branch = NetworkHostBranch(layer, in: outer, readLater: readLater, depth: depth + 1) {
      self = .branch(branch)
    } else {
      return nil
    }
  }

  var staged: StagedControlFlow {
    switch self {
    case .loop(let loop): .loop(loop.staged)
    case .branch(let branch): .branch(branch.staged)
    case .custom: .custom
    }
  }
}
