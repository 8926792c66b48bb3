extension LoweredSegment {
  /// Returns, by its index, each weight that only the dispatches of one of these nodes read, with the node.
  package func weights(ownedBy nodes: Set<String>) -> [Int: String] {
    guard !nodes.isEmpty else { return [:] }
    var readers: [Int: Set<String>] = [:]
    for (dispatch, node) in zip(dispatches, self.nodes) {
      for storage in dispatch.reads {
        if case .weight(let index) = storage.place { readers[index, default: []].insert(node) }
      }
    }
    return readers.compactMapValues { readers in readers.count == 1 ? readers.first { nodes.contains($0) } : nil }
  }
}
