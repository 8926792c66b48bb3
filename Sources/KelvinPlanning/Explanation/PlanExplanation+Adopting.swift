extension PlanExplanation {
  /// Replaces the solution by another one of the same problem.
  ///
  /// - Parameter reason: the reason stated for nodes that move.
  package func adopting(_ other: PlanSolution, reason: String) -> PlanExplanation {
    guard other.placement != solution.placement || other.mixture != solution.mixture else { return self }
    var changed = self
    changed.solution = other
    if other.streamed != solution.streamed { changed.shortage = nil }
    changed.nodes = nodes.map { record in
      var record = record
      if let device = other.placement[record.node], device != record.device {
        record.device = device
        record.reason = reason
        record.regret = nil
      }
      record.transfers = other.transfers.filter { $0.node == record.node }
      return record
    }
    return changed
  }
}
