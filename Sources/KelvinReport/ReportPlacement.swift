package import KelvinBasics

/// One plan: where every layer runs and why.
package struct ReportPlacement: Sendable, Hashable, Codable {
  package var units: String
  package var goal: String
  package var predicted: Double
  package var measured: Double?
  package var bestSingleDevice: String
  package var bestSingleSeconds: Double?
  /// What else is known of the plan: the bottleneck, frames a second, the approximation's gap.
  package var facts: [ReportFact]
  /// In topological order.
  package var nodes: [ReportNode]
  /// Of the nodes that repeat: shown once, and the other times on request.
  package var blocks: [RepeatedBlock]

  package init(
    units: String, goal: String, predicted: Double, measured: Double? = nil, bestSingleDevice: String = "",
    bestSingleSeconds: Double? = nil, facts: [ReportFact] = [], nodes: [ReportNode], blocks: [RepeatedBlock] = []
  ) {
    self.blocks = blocks
    self.units = units
    self.goal = goal
    self.predicted = predicted
    self.measured = measured
    self.bestSingleDevice = bestSingleDevice
    self.bestSingleSeconds = bestSingleSeconds
    self.facts = facts
    self.nodes = nodes
  }
}

package struct ReportNode: Sendable, Hashable, Codable {
  package var name: String
  package var op: String
  /// The nodes whose values it reads; any other name is an input of the graph.
  package var inputs: [String]
  package var device: String
  package var reason: String
  /// Seconds the whole would lose with this node elsewhere; nil when it can run nowhere else.
  package var regret: Double?
  package var candidates: [ReportCandidate]
  package var transfers: [ReportTransfer]
  /// The branch or loop around it and which part, outermost first: `loop_1/body`; empty at the top.
  package var region: String
  /// How often one inference runs it; its seconds are those of all these runs.
  package var runs: Double
  /// Whether it is a branch or loop itself, which the host runs.
  package var isControl: Bool

  package init(
    name: String, op: String, inputs: [String] = [], device: String, reason: String, regret: Double? = nil,
    candidates: [ReportCandidate] = [], transfers: [ReportTransfer] = [], region: String = "", runs: Double = 1,
    isControl: Bool = false
  ) {
    self.isControl = isControl
    self.region = region
    self.runs = runs
    self.name = name
    self.op = op
    self.inputs = inputs
    self.device = device
    self.reason = reason
    self.regret = regret
    self.candidates = candidates
    self.transfers = transfers
  }

  /// Seconds on the device chosen.
  package var seconds: Double? { candidates.first { $0.device == device }?.seconds }
}

/// A device that was considered: its cost, or why it cannot run the layer.
package struct ReportCandidate: Sendable, Hashable, Codable {
  package var device: String
  package var seconds: Double?
  package var isMeasured: Bool
  package var unsupported: String?

  package init(device: String, seconds: Double, isMeasured: Bool) {
    self.device = device
    self.seconds = seconds
    self.isMeasured = isMeasured
    unsupported = nil
  }

  package init(device: String, unsupported: String) {
    self.device = device
    self.unsupported = unsupported
    seconds = nil
    isMeasured = false
  }
}

package struct ReportTransfer: Sendable, Hashable, Codable {
  package var value: String
  package var from: String
  package var to: String
  package var bytes: Int
  package var seconds: Double
  /// Whether no value is copied: a branch or loop starts the device.
  package var isSignal: Bool

  package init(value: String, from: String, to: String, bytes: Int, seconds: Double, isSignal: Bool = false) {
    self.isSignal = isSignal
    self.value = value
    self.from = from
    self.to = to
    self.bytes = bytes
    self.seconds = seconds
  }
}
