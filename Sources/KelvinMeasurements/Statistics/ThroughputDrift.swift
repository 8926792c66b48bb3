/// The throughput of the last third of a run divided by that of its first third: 1 is steady, 0.8 is a loss of a fifth.
package enum ThroughputDrift {
  /// Returns the drift of consecutive inferences, with thirds by count. Nil for fewer than three samples or zero time.
  package static func backToBack(latencies: [Double]) -> Double? {
    let third = latencies.count / 3
    guard third > 0 else { return nil }
    let first = latencies.prefix(third).reduce(0, +)
    let last = latencies.suffix(third).reduce(0, +)
    return first > 0 && last > 0 ? first / last : nil
  }

  /// Returns the drift of a paced stream: completions in the last third of `start...end` divided by those in the first,
  /// in seconds on one clock. Nil when nothing completed in the first third or the span is empty.
  package static func paced(completions: [Double], start: Double, end: Double) -> Double? {
    let third = (end - start) / 3
    guard third > 0, third.isFinite else { return nil }
    let first = completions.count { $0 >= start && $0 < start + third }
    let last = completions.count { $0 > end - third && $0 <= end }
    return first > 0 ? Double(last) / Double(first) : nil
  }
}
