/// A device that was weighed for a node: its cost, or why it cannot run the node.
package struct PlanCandidate: Hashable, Sendable {
  package var device: String
  /// `nil` when the device cannot run the node.
  package var seconds: Double?
  package var source: CostSource?
  /// Why not, when `seconds` is `nil`.
  package var unsupported: String?
  /// Dynamic energy of the node here; `nil` when not known.
  package var joules: Double?
  /// Least objective with the node here and all else re-optimised, minus the plan's; `nil` when not known.
  package var regret: Double?

  package init(
    device: String, seconds: Double, source: CostSource, joules: Double? = nil, regret: Double? = nil
  ) {
    self.joules = joules
    self.device = device
    self.seconds = seconds
    self.source = source
    self.regret = regret
  }

  package init(device: String, unsupported: String) {
    self.device = device
    self.unsupported = unsupported
  }
}

/// What became of one node, and why.
package struct NodeExplanation: Hashable, Sendable {
  package var node: String
  package var device: String
  package var reason: String
  /// Least objective with the node on another device and all else re-optimised, minus the plan's: seconds of what the
  /// goal minimises. `nil` when no other device may run it or the total is not known.
  package var regret: Double?
  /// Every device of the problem, in its order.
  package var candidates: [PlanCandidate]
  /// Copies made for this node.
  package var transfers: [PlannedTransfer]
}

/// Everything on one device that can run there.
package struct SingleDevicePlan: Hashable, Sendable {
  package var device: String
  package var solution: PlanSolution
  /// Nodes that run elsewhere because `device` cannot run them or they are pinned: on the host, or, where that cannot
  /// either, wherever the total is least.
  package var elsewhere: [String]
  package var predicted: Double { solution.predicted }
}

/// One of the plans worth trying.
package struct RankedPlan: Hashable, Sendable {
  /// `best`, `only vulkan:0`, or `conv_3 on cpu`.
  package var label: String
  package var solution: PlanSolution
}

/// A plan with its reasons and alternatives.
package struct PlanExplanation: Hashable, Sendable {
  package var solution: PlanSolution
  /// In the problem's order.
  package var nodes: [NodeExplanation]
  /// The single-device plan of least objective; on a tie the one with fewer nodes elsewhere.
  package var bestSingleDevice: SingleDevicePlan?
  /// One for each device that can run at least one node, in the problem's order.
  package var singleDevices: [SingleDevicePlan]
  /// `solution` first, then by objective; placements differ.
  package var ranked: [RankedPlan]
  /// False when some regret is an upper bound, or unknown, because the search was cut short.
  package var hasExactRegrets: Bool
}
