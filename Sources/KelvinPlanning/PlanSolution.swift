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

  package init(value: String, from: String, to: String, bytes: Int, seconds: Double, node: String? = nil) {
    self.value = value
    self.from = from
    self.to = to
    self.bytes = bytes
    self.seconds = seconds
    self.node = node
  }
}

/// A placement of every node and the copies it causes: the answer of `kelvin plan --problem`.
package struct PlanSolution: Hashable, Sendable, Codable {
  package enum Method: String, Hashable, Sendable, Codable { case exact, approximate }

  /// Seconds of one inference: the serial sum of the nodes and `transfers`.
  package var predicted: Double
  /// Node id to device.
  package var placement: [String: String]
  /// In the order in which a serial run makes them.
  package var transfers: [PlannedTransfer]
  package var method: Method
  /// `(predicted − lowerBound) / lowerBound`: 0 when exact, 1 when nothing above zero bounds the optimum.
  package var gap: Double
  /// No placement takes less than this many seconds.
  package var lowerBound: Double
  /// How many states the search kept: its size, in place of its time.
  package var searchStates: Int

  package init(
    predicted: Double, placement: [String: String], transfers: [PlannedTransfer], method: Method, lowerBound: Double,
    searchStates: Int = 0
  ) {
    self.searchStates = searchStates
    self.predicted = predicted
    self.placement = placement
    self.transfers = transfers
    self.method = method
    self.lowerBound = method == .exact ? predicted : min(lowerBound, predicted)
    let excess = predicted - self.lowerBound
    gap = excess <= 0 ? 0 : self.lowerBound > 0 ? min(excess / self.lowerBound, .greatestFiniteMagnitude) : 1
  }
}
