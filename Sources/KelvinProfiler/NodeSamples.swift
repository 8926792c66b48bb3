import KelvinMeasurements
import KelvinRuntime

/// Samples of nodes, scaled so that their medians add up to the time of the median inference.
///
/// On a busy machine every inference is delayed in some node, seldom in the same one. Unscaled medians would therefore
/// add up to less than any inference takes, and the difference would count as dispatch.
struct NodeSamples {
  /// Seconds of one iteration, by node of the device.
  let byNode: [String: [Double]]
  /// Seconds of all nodes in the median inference.
  private let total: Double
  /// By pair, the time of the inference without timers divided by the node time of the one with timers.
  private let shares: [Int: Double]

  /// - Parameters:
  ///   - pairs: the pairs that count, with their indices in the order of measurement.
  ///   - nodes: the nodes of the device; other devices run the rest.
  ///   - timer: the seconds that a timer adds to each sample of the device.
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

  /// Returns the seconds of an inference without timers, normalized to the nodes' usual times; nil when none of the
  /// given pairs ran a node.
  func whole(in indices: [Int]) -> LatencyStatistics? {
    try? LatencyStatistics(indices.compactMap { shares[$0].map { $0 * total } })
  }
}
