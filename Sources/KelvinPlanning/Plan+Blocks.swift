package import KelvinBasics

extension Plan {
  /// The number of nodes above which repeated blocks of a plan are shown folded.
  package static let fewestFolded = 40

  /// The reason that most nodes share, if more than one does. Reports list only the other nodes' reasons.
  package var commonReason: String? {
    let counts = Dictionary(grouping: nodes, by: \.reason).mapValues(\.count)
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.flatMap { $0.value > 1 ? $0.key : nil }
  }

  /// The blocks of a long plan that repeat in computation and device, such as a transformer's layers; empty for a short
  /// plan. A block excludes nodes that need a description of their own: with a copy, an uncommon reason, control flow
  /// or unknown work.
  package var repeatedBlocks: [RepeatedBlock] {
    guard nodes.count > Self.fewestFolded else { return [] }
    let common = commonReason
    return RepeatedBlock.find(
      in: nodes.enumerated().map { index, node in
        guard let computation = node.computation, node.reason == common, node.transfers.isEmpty, node.turns == nil
        else { return Similarity.alone(index) }
        let refusing = node.candidates.filter { $0.seconds == nil }.map(\.device)
        return .alike(
          computation, device: node.device, refusing: refusing, region: node.region, iterations: node.iterations)
      })
  }

  private enum Similarity: Hashable {
    case alone(Int)
    case alike(String, device: String, refusing: [String], region: String, iterations: Double)
  }
}
