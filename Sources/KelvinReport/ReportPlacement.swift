package import KelvinBasics
package import KelvinPlanning

/// A plan as a page shows it: the device of every layer and the reason for it.
package struct ReportPlacement: Sendable {
  package var units: String
  package var plan: Plan
  /// The seconds of one warm inference, if the plan has run.
  package var measured: Double?
  /// How far the prediction may be off: `± 7.0 %`, and its source; nil if it is not stated.
  package var expectedError: (mark: String, basis: String)?
  /// Further facts about the plan: the bottleneck, the frame rate, the optimality gap.
  package var facts: [ReportFact]
  /// The blocks of repeated nodes, which are shown once, and in full on request.
  package var blocks: [RepeatedBlock]

  package init(units: String, plan: Plan, measured: Double? = nil, facts: [ReportFact] = []) {
    self.units = units
    self.plan = plan
    self.measured = measured
    self.facts = facts
    blocks = plan.repeatedBlocks
  }

  /// - Parameters:
  ///   - solution: the planner's solution behind the plan.
  ///   - expectedError: how far the prediction may be off, and the source of that number.
  ///   - alone: the time of each device alone, in words.
  package init(
    units: String, plan: Plan, solution: PlanSolution, measured: Double? = nil,
    expectedError: (mark: String, basis: String)? = nil, alone: [String] = []
  ) {
    let sizes = plan.parts.first?.sampledSizes.map { sizes in
      let listed = sizes.sorted { $0.key < $1.key }.map { name, sizes in
        "\(name) \(sizes.map(String.init).joined(separator: "x"))"
      }
      return " at the sizes of a sample run (\(listed.joined(separator: ", ")))"
    }
    self.init(
      units: units + (plan.parts.first.map { ", graph '\($0.name)'" } ?? "") + (sizes ?? ""), plan: plan,
      measured: measured, facts: Self.facts(solution, mark: expectedError.map { " \($0.mark)" } ?? "", alone: alone))
    self.expectedError = expectedError
  }

  private static func facts(_ solution: PlanSolution, mark: String, alone: [String]) -> [ReportFact] {
    var facts: [ReportFact] = []
    if solution.method == .approximate {
      facts.append(ReportFact("at most off the optimum", HumanReadable.percent(solution.gap)))
    }
    if let bottleneck = solution.bottleneck, solution.framesPerSecond != nil {
      facts.append(ReportFact("bottleneck", "\(bottleneck.resource), \(HumanReadable.seconds(bottleneck.seconds))"))
    }
    if let rate = solution.framesPerSecond {
      let limit = solution.limitedBy.map { ", limited by \($0)" } ?? ""
      facts.append(ReportFact("predicted rate", HumanReadable.perSecond(rate) + mark + limit))
    }
    if let mixture = solution.mixture { facts.append(ReportFact("plans", mixture.text)) }
    if let start = solution.startSeconds { facts.append(ReportFact("paid once", HumanReadable.seconds(start))) }
    if let joules = solution.joules {
      facts.append(ReportFact("energy", HumanReadable.significant(joules * 1000) + " mJ above idle"))
    }
    for flip in solution.flips ?? [] {
      facts.append(ReportFact("from \(counted(flip.runs, "run")) on", "\(flip.to) instead of \(flip.from)"))
    }
    if alone.count > 1 { facts.append(ReportFact("each device alone", alone.joined(separator: ", "))) }
    return facts
  }
}
