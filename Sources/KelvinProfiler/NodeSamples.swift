import KelvinMeasurements
import KelvinRuntime

/// Samples of nodes whose medians add up to what the median inference takes.
///
/// On a busy machine every inference is held up in some node, seldom in the same: the medians by themselves would add
/// up to less than any inference takes, and what is missing would be put down to handing nodes out. It is theirs, in
/// proportion.
struct NodeSamples {
  /// Seconds of one trip, by node of the device.
  let byNode: [String: [Double]]
  /// Seconds of all nodes in the median inference.
  private let total: Double
  /// By pair, the inference without timers over the nodes of the one with.
  private let shares: [Int: Double]

  /// - Parameters:
  ///   - pairs: those that count, by their places in the order in which they were measured.
  ///   - nodes: of the device; others do what it cannot.
  ///   - timer: seconds that a timer adds to each sample of the device.
  init(_ pairs: [(index: Int, pair: DeviceMeasurement.Pair)], _ nodes: Set<String>, timer: Double) {
    var samples: [String: [Double]] = [:]
    var runs: [String: Int] = [:]
    var totals: [Double] = []
    var shares: [Int: Double] = [:]
    for (index, pair) in pairs {
      var own = 0.0
      for (node, time) in pair.record.nodes {
        let each = time.secondsEach
        let seconds = nodes.contains(node) ? max(each - timer, 0.1 * each) : each
        samples[node, default: []].append(seconds)
        runs[node, default: 0] += time.runs
        own += seconds * Double(time.runs)
      }
      totals.append(own)
      if own > 0 { shares[index] = pair.plain / own }
    }
    func median(_ values: [Double]) -> Double { (try? LatencyStatistics(values).median) ?? 0 }
    let sum = samples.reduce(0) { $0 + median($1.value) * Double(runs[$1.key] ?? 0) } / Double(max(1, pairs.count))
    let total = median(totals)
    let scale = sum > 0 ? total / sum : 1
    byNode = samples.filter { nodes.contains($0.key) }.mapValues { $0.map { $0 * scale } }
    (self.total, self.shares) = (total, shares)
  }

  /// One inference without timers beside nodes that take what they usually do, in seconds; nil where none of the pairs
  /// named ran a node.
  func whole(in indices: [Int]) -> LatencyStatistics? {
    try? LatencyStatistics(indices.compactMap { shares[$0].map { $0 * total } })
  }
}
