/// Plans for devices that lack memory for what was asked of them.
extension PlanningProblem {
  /// Returns a placement within the memory limits that is close to a wanted one, by node.
  ///
  /// Elsewhere than wanted, a node counts as twice the longer of its times there and here. So a node leaves its device
  /// only for lack of memory, or to spare copies to nodes that left. Its weights are streamed only where that takes less
  /// than the node elsewhere.
  package func reduced(_ wanted: [String: String]) throws(PlanningError) -> [String: String] {
    let nodes = nodes.map { node in
      guard let device = wanted[node.id], let here = node.seconds[device] else { return node }
      var node = node
      let elsewhere = node.seconds.filter { $0.key != device }.values.min() ?? .infinity
      node.streamSeconds = node.streamSeconds.filter { $0.key == device && here + $0.value < elsewhere }
      for (other, seconds) in node.seconds where other != device { node.seconds[other] = 2 * max(seconds, here) }
      return node
    }
    return try PlanningProblem(
      devices: devices, host: host, transfers: transfers, inputs: inputs, outputs: outputs, nodes: nodes, goal: goal,
      pins: pins, exclude: exclude, memory: memory, boundarySeconds: boundarySeconds, resource: resource, start: start,
      power: power
    ).solve().placement
  }

  /// Returns the bytes of the weights of some nodes on a device. A shared weight counts once.
  package func weightBytes(on device: String, of isCounted: (Node) -> Bool = { _ in true }) -> Int {
    nodes.filter(isCounted).reduce(into: [String: Int]()) { all, node in
      for weight in node.weights where weight.devices?.contains(device) ?? true { all[weight.weight] = weight.bytes }
    }.values.reduce(0) { min($0 + $1, .max / 2) }
  }
}
