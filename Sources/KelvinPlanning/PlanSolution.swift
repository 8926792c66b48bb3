/// One copy of a value from a device to another.
package struct PlannedTransfer: Hashable, Sendable, Codable {
  package var value: String
  package var from: String
  package var to: String
  package var bytes: Int
  /// Latency, boundary and bytes together.
  package var seconds: Double
  /// The node that needs the copy: the consumer it is made for, or, on the way of a graph output to the host, the
  /// producer. `nil` in a plan file, where transfers stand inside their node.
  package var node: String?
  /// True where no value is copied: control flow starts the device. Nil for a copy.
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

/// The resource that has most to do for one frame of a pipelined stream.
package struct Bottleneck: Hashable, Sendable, Codable {
  package var resource: String
  /// Seconds for one frame: its devices' nodes, and the copies that leave or reach them.
  package var seconds: Double

  package init(resource: String, seconds: Double) {
    self.resource = resource
    self.seconds = seconds
  }
}

/// A number of inferences from which on another plan costs less in all than the one before it.
package struct PlanFlip: Hashable, Sendable, Codable {
  /// Inferences after the first: `to` costs less from this count on.
  package var runs: Int
  /// Which devices run how many nodes: `cpu`, or `cpu 12 + vulkan:0 40`.
  package var from: String
  package var to: String
  /// What is paid once, and seconds of one inference, of the plan `to`.
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

/// A placement of every node and the copies it causes: the answer of `kelvin plan --problem`.
package struct PlanSolution: Hashable, Sendable, Codable {
  package enum Method: String, Hashable, Sendable, Codable { case exact, approximate }

  /// Seconds of one warm inference: the serial sum of the nodes and `transfers`, whatever the goal.
  package var predicted: Double
  /// Seconds that the goal minimises. `latency`: `predicted`. `one-shot`: `startSeconds` and all inferences.
  /// `throughput`: the bottleneck's. `sustained`: a frame's, the larger of the bottleneck's and of energy over spare power.
  package var objective: Double
  /// Node id to device.
  package var placement: [String: String]
  /// In the order in which a serial run makes them.
  package var transfers: [PlannedTransfer]
  package var method: Method
  /// `(objective − lowerBound) / lowerBound`: 0 when exact, 1 when nothing above zero bounds the optimum.
  package var gap: Double
  /// No placement has a lower `objective`.
  package var lowerBound: Double
  /// How many states the search kept: its size, in place of its time.
  package var searchStates: Int

  package var bottleneck: Bottleneck?
  /// Dynamic energy of one inference, where every node's is known.
  package var joules: Double?
  /// Of the goals `throughput` and `sustained`.
  package var framesPerSecond: Double?
  /// What holds the rate down: a resource's name, or `power`.
  package var limitedBy: String?
  /// Paid once: loading, devices, compiling and first runs; of the goal `one-shot`.
  package var startSeconds: Double?
  /// Where a one-shot choice changes with the number of runs, by rising count; of the goal `one-shot`.
  package var flips: [PlanFlip]?
  /// What the numbers mean, in a sentence, where they do not speak for themselves.
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

  /// The same plan where nobody claims that it is the best: no placement has a lower objective than `lowerBound`.
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
