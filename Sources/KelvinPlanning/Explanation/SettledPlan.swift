import KelvinBasics

/// Selects among plans that are equal within noise, so that placements are stable while measurements vary. The order
/// is: fewest devices, then fewest copies, then the previous placement.
struct SettledPlan {
  private let problem: PlanningProblem
  /// The largest time of a plan that counts as equal to the best.
  private let limit: Double
  private let best: PlanSolution
  private let kept: [String: String]?

  /// The number of bisection steps for the price of a copy.
  private static let steps = 8

  /// - Parameters:
  ///   - best: the plan of least serial sum.
  ///   - noise: the relative error of predictions.
  ///   - kept: a placement to prefer among equal ones.
  init(_ problem: PlanningProblem, best: PlanSolution, noise: Double, kept: [String: String]?) {
    self.problem = problem
    self.best = best
    limit = best.predicted * (1 + noise)
    self.kept = kept
  }

  /// - Parameter singles: the single-device plans.
  func solution(singles: [PlanSolution]) -> PlanSolution {
    if let single = least(singles) { return single }
    let mix = fewestCopies(fewestDevices())
    guard let kept = kept.flatMap({ problem.solution(placing: $0, lowerBound: best.lowerBound) }),
      kept.predicted <= limit, devices(kept) <= devices(mix)
    else { return mix }
    return kept
  }

  private func devices(_ solution: PlanSolution) -> Int { Set(solution.placement.values).count }

  /// Returns the plan within the limit with the fewest devices, copies and seconds, in this order.
  private func least(_ plans: [PlanSolution]) -> PlanSolution? {
    plans.filter { $0.predicted <= limit }.min {
      (devices($0), $0.transfers.count, $0.predicted) < (devices($1), $1.transfers.count, $1.predicted)
    }
  }

  /// Returns the best plan on fewer of the devices that the best plan uses, if one is within the limit.
  private func fewestDevices() -> PlanSolution {
    let used = Set(best.placement.values).sorted()
    guard used.count > 2 else { return best }
    for count in 2..<used.count {
      let plans = Self.subsets(of: used, count).compactMap { subset in
        let others = problem.devices.filter { !subset.contains($0) }
        return (try? problem.with(exclude: problem.exclude + others).solve())?.bounded(by: best.lowerBound)
      }
      if let plan = least(plans) { return plan }
    }
    return best
  }

  private static func subsets(of items: [String], _ count: Int) -> [[String]] {
    if count == 0 { return [[]] }
    return items.indices.flatMap { index in
      subsets(of: Array(items[(index + 1)...]), count - 1).map { [items[index]] + $0 }
    }
  }

  /// Returns the plan that results when every copy costs as much more as the limit permits.
  private func fewestCopies(_ plan: PlanSolution) -> PlanSolution {
    guard plan.transfers.count > 1, limit > plan.predicted else { return plan }
    let used = Set(plan.placement.values)
    let others = problem.devices.filter { !used.contains($0) }
    var (low, high) = (0.0, limit - best.predicted)
    var fewest = plan
    for step in 0..<Self.steps {
      let price = step == 0 ? high : (low + high) / 2
      guard let found = solution(pricing: price, without: others), found.predicted <= limit else {
        high = price
        continue
      }
      if (found.transfers.count, found.predicted) < (fewest.transfers.count, fewest.predicted) { fewest = found }
      if step == 0 { break }
      low = price
    }
    return fewest
  }

  /// Returns the best plan if each copy cost `price` seconds more, evaluated at the real costs.
  private func solution(pricing price: Double, without others: [String]) -> PlanSolution? {
    let boundaries = Dictionary(
      uniqueKeysWithValues: problem.devices.map { ($0, (problem.boundarySeconds[$0] ?? 0) + price) })
    let priced = try? problem.with(exclude: problem.exclude + others, boundarySeconds: boundaries).solve()
    return priced.flatMap { problem.solution(placing: $0.placement, lowerBound: best.lowerBound) }
  }
}

extension PlanExplanation {
  /// Replaces the plan by one that is equal to the best within noise; see `SettledPlan`. Only plans of goal `latency`
  /// are replaced, because other goals add costs of different kinds.
  ///
  /// - Parameters:
  ///   - problem: the problem of the explanation.
  ///   - noise: the relative error of predictions; 0 changes nothing.
  ///   - kept: a placement to prefer among equal ones.
  package func settled(_ problem: PlanningProblem, noise: Double, kept: [String: String]?) -> PlanExplanation {
    guard noise > 0, problem.goal == .latency else { return self }
    var settled = SettledPlan(problem, best: solution, noise: noise, kept: kept)
      .solution(singles: singleDevices.map(\.solution))
    guard settled.placement != solution.placement else { return self }
    let share = HumanReadable.percent(noise)
    settled.remark =
      "equal within noise: predictions are off by \(share), and this plan is predicted to take "
      + "\(HumanReadable.percent(settled.predicted / solution.predicted - 1)) more than the optimum, "
      + "\(HumanReadable.seconds(solution.predicted)); fewer devices and fewer copies go first"
    var explanation = adopting(
      settled, reason: "equal within noise (± \(share)): fewer devices and fewer copies go first")
    explanation.ranked =
      [RankedPlan(label: "equal", solution: settled)]
      + explanation.ranked.filter {
        $0.solution.placement != settled.placement
      }
    return explanation
  }
}
