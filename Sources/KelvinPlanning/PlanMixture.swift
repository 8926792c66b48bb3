import KelvinBasics

/// Plans between which the frames of a stream alternate, because together they reach a higher rate than any one of them.
package struct PlanMixture: Hashable, Sendable {
  package struct Share: Hashable, Sendable {
    /// The share of the frames, above 0 and below 1; the shares of a mixture sum to 1.
    package var share: Double
    /// The device of each node, by id.
    package var placement: [String: String]
    package var transfers: [PlannedTransfer]

    package init(share: Double, placement: [String: String], transfers: [PlannedTransfer] = []) {
      self.share = share
      self.placement = placement
      self.transfers = transfers
    }
  }

  /// The most plans of a mixture in a file.
  static let mostPlans = 64

  /// The plans by falling share.
  package var plans: [Share]
  /// The seconds of a frame if the best single plan served all frames; nil if a plan file does not tell.
  package var singlePlanSeconds: Double?

  package init(plans: [Share], singlePlanSeconds: Double? = nil) {
    self.plans = plans
    self.singlePlanSeconds = singlePlanSeconds
  }

  /// The devices that run a node in any of the plans.
  package var usedDevices: Set<String> { plans.reduce(into: []) { $0.formUnion($1.placement.values) } }

  /// Returns the plans that remain, with shares in the same proportion that sum to 1.
  package func keeping(where isKept: (Share) -> Bool) -> [Share] {
    let kept = plans.filter(isKept)
    let whole = kept.reduce(0) { $0 + $1.share }
    return kept.map { Share(share: $0.share / whole, placement: $0.placement, transfers: $0.transfers) }
  }

  /// `2 plans take turns: 67 % of the frames on gpu, 33 % on cpu + gpu; the best one alone would reach 12 frames/s`
  package var text: String {
    let shares = plans.enumerated().map { index, plan in
      "\(HumanReadable.percent(plan.share, decimals: 0)) \(index == 0 ? "of the frames on" : "on") "
        + Set(plan.placement.values).sorted().joined(separator: " + ")
    }
    let alone = singlePlanSeconds.flatMap { $0 > 0 ? HumanReadable.framesPerSecond(1 / $0) : nil }
    return "\(plans.count) plans take turns: \(shares.joined(separator: ", "))"
      + (alone.map { "; the best one alone would reach \($0)" } ?? "")
  }
}

extension PlanMixture.Share: Codable {
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    self.init(
      share: try fields["share"], placement: try fields["placement"], transfers: try fields["transfers", or: []])
  }
}

extension PlanMixture: Codable {}
