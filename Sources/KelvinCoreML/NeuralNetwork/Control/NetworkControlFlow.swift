import KelvinImport

/// A loop or branch of a network whose trips or sides may be parts of their own.
enum NetworkControlFlow {
  case loop(NetworkHostLoop)
  case branch(NetworkHostBranch)

  /// Nil of what cannot be walked: it is a node of a graph, or refused when that is written.
  ///
  /// - Parameters:
  ///   - outer: the tensors before the layer.
  ///   - readLater: those that something behind it reads.
  ///   - depth: in how many networks it lies.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors, readLater: Set<String>, depth: Int) {
    guard depth < StagedControlFlow.depthLimit else { return nil }
    if let loop = NetworkHostLoop(layer, in: outer, readLater: readLater, depth: depth + 1) {
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
    }
  }
}
