/// A device considered for a node: its cost, or the reason why it cannot run the node.
package struct PlanCandidate: Hashable, Sendable {
  package var device: String
  /// `nil` when the device cannot run the node.
  package var seconds: Double?
  package var source: CostSource?
  /// The reason, when `seconds` is `nil`.
  package var unsupported: String?
  /// The dynamic energy of the node on this device; `nil` when unknown.
  package var joules: Double?
  /// The least objective with the node on this device and all else re-optimized, minus the plan's; `nil` when unknown.
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

  package var isMeasured: Bool { source == .measured }
}

/// The placement of one node, and its reason.
package struct NodeExplanation: Hashable, Sendable {
  package var node: String
  package var device: String
  package var reason: String
  /// The least objective with the node on another device and all else re-optimized, minus the plan's, in seconds. `nil`
  /// when no other device may run the node or the total is unknown.
  package var regret: Double?
  /// Every device of the problem, in its order.
  package var candidates: [PlanCandidate]
  /// The copies made for this node.
  package var transfers: [PlannedTransfer]
}

/// A plan with every node on one device that can run there.
package struct SingleDevicePlan: Hashable, Sendable {
  package var device: String
  package var solution: PlanSolution
  /// The nodes that run elsewhere because `device` cannot run them or they are pinned. They run on the host, or, if
  /// that is not possible, on the devices of least total cost.
  package var elsewhere: [String]
  package var predicted: Double { solution.predicted }
}

/// A plan to consider, with its label.
package struct RankedPlan: Hashable, Sendable {
  /// `best`, `only vulkan:0`, or `conv_3 on cpu`.
  package var label: String
  package var solution: PlanSolution
}

/// A plan with its reasons and alternatives.
package struct PlanExplanation: Hashable, Sendable {
  package var solution: PlanSolution
  /// The nodes in the problem's order.
  package var nodes: [NodeExplanation]
  /// The single-device plan of least objective; among equal ones, the one with fewer nodes elsewhere.
  package var bestSingleDevice: SingleDevicePlan?
  /// One plan for each device that can run at least one node, in the problem's order.
  package var singleDevices: [SingleDevicePlan]
  /// `solution`, then other placements by objective.
  package var ranked: [RankedPlan]
  /// Whether all regrets are exact; false when the search was cut short and some are upper bounds or unknown.
  package var hasExactRegrets: Bool
  /// The best mixture of single-device plans, for the goals `throughput` and `sustained`; nil if one of them alone is
  /// as good.
  package var replicas: PlanSolution?
  /// A remark for the user about devices without memory for all that was asked of them; nil if there is none.
  package var shortage: String?
}
