/// A copy of a value from one device to another.
package struct PlannedTransfer: Hashable, Sendable, Codable {
  package var value: String
  package var from: String
  package var to: String
  package var bytes: Int
  /// The seconds of latency, boundary and bytes together.
  package var seconds: Double
  /// The node that needs the copy: its consumer, or, for a copy of a graph output to the host, its producer. `nil` in a
  /// plan file, where transfers are listed in their node.
  package var node: String?
  /// True when control flow starts the device and no value is copied; nil for a copy.
  package var isSignal: Bool?

  package init(
    value: String, from: String, to: String, bytes: Int, seconds: Double, node: String? = nil, isSignal: Bool? = nil
  ) {
    self.isSignal = isSignal
    self.value = value
    self.from = from
    self.to = to
    self.bytes = bytes
    self.seconds = seconds
    self.node = node
  }
}

/// The resource with the most work for one frame of a pipelined stream.
package struct Bottleneck: Hashable, Sendable, Codable {
  package var resource: String
  /// Seconds for one frame: the nodes of its devices, and the copies from or to them.
  package var seconds: Double

  package init(resource: String, seconds: Double) {
    self.resource = resource
    self.seconds = seconds
  }
}

/// The number of inferences from which another plan costs less in total than the previous one.
package struct PlanFlip: Hashable, Sendable, Codable {
  /// The number of inferences after the first, from which `to` costs less.
  package var runs: Int
  /// The numbers of nodes by device: `cpu`, or `cpu 12 + vulkan:0 40`.
  package var from: String
  package var to: String
  /// The one-time seconds and the seconds of one inference of the plan `to`.
  package var startSeconds: Double
  package var predicted: Double

  package init(runs: Int, from: String, to: String, startSeconds: Double, predicted: Double) {
    self.runs = runs
    self.from = from
    self.to = to
    self.startSeconds = startSeconds
    self.predicted = predicted
  }
}

/// A placement of every node and the resulting copies: the answer of `kelvin plan --problem`.
package struct PlanSolution: Hashable, Sendable, Codable {
  package enum Method: String, Hashable, Sendable, Codable { case exact, approximate }

  /// Seconds of one warm inference, for every goal: the serial sum of the nodes and `transfers`.
  package var predicted: Double
  /// The seconds that the goal minimizes. `latency`: `predicted`. `one-shot`: `startSeconds` and all inferences.
  /// `throughput`: the bottleneck's seconds. `sustained`: the seconds of a frame, the larger of the bottleneck's and of
  /// energy divided by spare power. With a `mixture`, the means over its frames.
  package var objective: Double
  /// The device of each node, by id. With a `mixture`, the best single plan.
  package var placement: [String: String]
  /// The transfers in the order of a serial run.
  package var transfers: [PlannedTransfer]
  /// The nodes whose weights are copied to their device before each use, by id; nil if all weights stay there.
  package var streamed: [String]?
  package var method: Method
  /// `(objective − lowerBound) / lowerBound`: 0 when exact, 1 when the lower bound is zero.
  package var gap: Double
  /// A lower bound of `objective` over all placements.
  package var lowerBound: Double
  /// The number of states that the search kept, a measure of its size that does not depend on time.
  package var searchStates: Int

  package var bottleneck: Bottleneck?
  /// The dynamic energy of one inference, if every node's is known.
  package var joules: Double?
  /// The frames per second, for the goals `throughput` and `sustained`.
  package var framesPerSecond: Double?
  /// The limit of the rate: a resource's name, or `power`.
  package var limitedBy: String?
  /// The plans that together are better than `placement`, for the goals `throughput` and `sustained`; nil when one plan
  /// serves all frames. `objective`, `framesPerSecond`, `limitedBy`, `bottleneck` and `joules` are then those of the
  /// mixture.
  package var mixture: PlanMixture?
  /// One-time seconds for loading, devices, compilation and first runs, for the goal `one-shot`.
  package var startSeconds: Double?
  /// The changes of a one-shot plan with the number of runs, by rising count, for the goal `one-shot`.
  package var flips: [PlanFlip]?
  /// An explanation of the numbers in a sentence, if they need one.
  package var remark: String?

  package init(
    predicted: Double, placement: [String: String], transfers: [PlannedTransfer], method: Method, lowerBound: Double,
    searchStates: Int = 0, objective: Double? = nil
  ) {
    self.searchStates = searchStates
    self.predicted = predicted
    self.objective = objective ?? predicted
    self.placement = placement
    self.transfers = transfers
    self.method = method
    self.lowerBound = method == .exact ? self.objective : min(lowerBound, self.objective)
    gap = Self.gap(self.objective, over: self.lowerBound)
  }

  /// Returns the same plan as an approximate solution, with `lowerBound` as the bound of the objective.
  func bounded(by lowerBound: Double) -> PlanSolution {
    var bounded = self
    bounded.method = .approximate
    bounded.lowerBound = min(lowerBound, objective)
    bounded.gap = Self.gap(objective, over: bounded.lowerBound)
    return bounded
  }

  private static func gap(_ objective: Double, over lowerBound: Double) -> Double {
    let excess = objective - lowerBound
    return excess <= 0 ? 0 : lowerBound > 0 ? min(excess / lowerBound, .greatestFiniteMagnitude) : 1
  }
}
