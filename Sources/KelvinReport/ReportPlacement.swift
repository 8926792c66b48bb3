package import KelvinBasics

/// A plan: the device of every layer and the reason for it.
package struct ReportPlacement: Sendable, Hashable, Codable {
  package var units: String
  package var goal: String
  package var predicted: Double
  package var measured: Double?
  package var bestSingleDevice: String
  package var bestSingleSeconds: Double?
  /// Further facts about the plan: the bottleneck, the frame rate, the optimality gap.
  package var facts: [ReportFact]
  /// The nodes in topological order.
  package var nodes: [ReportNode]
  /// The blocks of repeated nodes, which are shown once, and in full on request.
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
  /// The names of the nodes whose values it reads; any other name is an input of the graph.
  package var inputs: [String]
  package var device: String
  package var reason: String
  /// The loss of the whole inference in seconds with this node on another device; nil where no other device can run it.
  package var regret: Double?
  package var candidates: [ReportCandidate]
  package var transfers: [ReportTransfer]
  /// The enclosing branch or loop and its part, the outermost first: `loop_1/body`; empty at the top level.
  package var region: String
  /// The number of executions per inference. The node's seconds include all of them.
  package var runs: Double
  /// Whether the node is a branch or loop itself, which the host executes.
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

  /// The cost on the chosen device in seconds.
  package var seconds: Double? { candidates.first { $0.device == device }?.seconds }
}

/// A device that was considered: its cost, or the reason why it cannot run the layer.
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
  /// Whether a branch or loop starts the device, without copying a value.
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
