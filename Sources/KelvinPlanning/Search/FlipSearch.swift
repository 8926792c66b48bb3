/// Finds the numbers of runs at which the best one-shot plan changes.
///
/// A plan costs `start + inferences · seconds`, a linear function of the number of inferences; the best plan is the
/// lower envelope of all plans' lines. The search looks at the intersection of two plans' lines. If no plan costs less
/// there, the intersection is a corner of the envelope; otherwise the search continues on both sides of the cheaper
/// plan.
struct FlipSearch {
  let search: StartSearch
  /// The most searches.
  let limit: Int

  static let mostInferences = 1e9
  private static let tolerance = 1e-9

  /// - Parameter known: as in `StartSearch.best`.
  /// - Returns: the changes by rising count, and whether all were found within the limit.
  func run(
    after known: inout [Int: LatencySearch.Found]
  ) throws(PlanningError) -> (flips: [PlanFlip], isComplete: Bool) {
    var searches = 2
    let first = try search.best(inferences: 1, after: &known).plan
    let last = try search.best(inferences: Self.mostInferences, after: &known).plan
    var envelope: [StartSearch.Plan] = [first]
    var isComplete = true
    var pending: [(low: StartSearch.Plan, high: StartSearch.Plan)] = [(first, last)]
    while let (low, high) = pending.popLast() {
      guard let count = meeting(low, high) else {
        continue
      }
      if searches < limit {
        searches += 1
        let between = try search.best(inferences: count, after: &known).plan
        if between.total(count) < low.total(count) * (1 - Self.tolerance), between.seconds < low.seconds,
          between.start < high.start
        {
          pending.append((between, high))
          pending.append((low, between))
          continue
        }
      } else {
        isComplete = false
      }
      envelope.append(high)
    }
    var flips: [PlanFlip] = []
    for (low, high) in zip(envelope, envelope.dropFirst()) {
      guard let count = meeting(low, high) else { continue }
      let runs = max(0, Int(count.rounded(.down)))
      if let same = flips.lastIndex(where: { $0.runs == runs }) {
        flips[same].to = label(high)
        flips[same].startSeconds = high.start
        flips[same].predicted = high.seconds
        continue
      }
      flips.append(
        PlanFlip(
          runs: runs, from: label(low), to: label(high), startSeconds: high.start, predicted: high.seconds))
    }
    return (flips, isComplete)
  }

  /// Returns the number of inferences from which `high` costs less; `nil` if it never does.
  private func meeting(_ low: StartSearch.Plan, _ high: StartSearch.Plan) -> Double? {
    guard high.seconds < low.seconds * (1 - Self.tolerance), high.start > low.start else { return nil }
    let count = (high.start - low.start) / (low.seconds - high.seconds)
    return count >= 1 && count < Self.mostInferences ? count : nil
  }

  private func label(_ plan: StartSearch.Plan) -> String {
    let index = search.index
    var nodes = Array(repeating: 0, count: index.deviceCount)
    for device in plan.placement { nodes[device] += 1 }
    let used = nodes.indices.filter { nodes[$0] > 0 }
    if used.count == 1 { return index.deviceNames[used[0]] }
    return used.map { "\(index.deviceNames[$0]) \(nodes[$0])" }.joined(separator: " + ")
  }
}
