/// The quantity that a plan optimizes.
package enum Goal: String, Hashable, Sendable, Codable, CaseIterable {
  /// The least time of one warm inference: the serial sum of node and transfer seconds.
  case latency
  /// The least time to load, compile, and run the first inference and `runs` more.
  case oneShot = "one-shot"
  /// The highest rate of inferences pipelined over devices, which the largest load of a resource limits.
  case throughput
  /// The highest rate that lasts for hours under a power budget.
  case sustained
}

/// The origin of a cost.
package enum CostSource: String, Hashable, Sendable, Codable {
  case measured, estimated
}
