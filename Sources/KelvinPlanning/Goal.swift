/// What a plan minimises or maximises.
package enum Goal: String, Hashable, Sendable, Codable, CaseIterable {
  /// One warm inference: the serial sum of node and transfer seconds.
  case latency
  /// Load, compile, the first inference and `runs` more.
  case oneShot = "one-shot"
  /// Pipelined over devices: the largest load of a resource.
  case throughput
  /// Frames per second for hours, under a power budget.
  case sustained
}

/// Where a number comes from.
package enum CostSource: String, Hashable, Sendable, Codable {
  case measured, estimated
}
