package import KelvinBasics

extension Plan {
  /// Nodes up to which a plan is shown one by one.
  package static let fewestFolded = 40

  /// The reason that most nodes have, where more than one has it; texts tell the others' one by one.
  package var commonReason: String? {
    let counts = Dictionary(grouping: nodes, by: \.reason).mapValues(\.count)
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.flatMap { $0.value > 1 ? $0.key : nil }
  }

  /// The blocks of a long plan that repeat in what their nodes compute and where they run, such as a transformer's
  /// layers; none of a plan that is short enough to be read. A node is in none where there is something to be said of
  /// it: a copy, a reason that is not the common one, control flow, or that its work is not known.
  package var repeatedBlocks: [RepeatedBlock] {
    guard nodes.count > Self.fewestFolded else { return [] }
    let common = commonReason
    return RepeatedBlock.find(
      in: nodes.enumerated().map { index, node in
        guard let computation = node.computation, node.reason == common, node.transfers.isEmpty, node.turns == nil
        else { return Similarity.alone(index) }
        let refusing = node.candidates.filter { $0.seconds == nil }.map(\.device)
        return .alike(
          computation, device: node.device, refusing: refusing, region: node.region, trips: node.trips)
      })
  }

  private enum Similarity: Hashable {
    case alone(Int)
    case alike(String, device: String, refusing: [String], region: String, trips: Double)
  }
}
