import KelvinBasics

/// Plans of one graph that were run in turns on this machine, and which of them is used.
package struct TriedPlans: Sendable, Hashable, Codable {
  package struct Entry: Sendable, Hashable, Codable {
    /// `best`, or `only vulkan:0`.
    package var label: String
    /// Node name to device id.
    package var placement: [String: String]
    /// As predicted when it was tried.
    package var predicted: Double
    /// Median seconds of one warm inference.
    package var seconds: Double
    package var interval: ConfidenceInterval
    package var samples: Int
    /// Whether one device runs everything it can.
    package var isSingleDevice: Bool

    package init(
      label: String, placement: [String: String], predicted: Double, seconds: Double, interval: ConfidenceInterval,
      samples: Int, isSingleDevice: Bool
    ) {
      self.label = label
      self.placement = placement
      self.predicted = predicted
      self.seconds = seconds
      self.interval = interval
      self.samples = samples
      self.isSingleDevice = isSingleDevice
    }
  }

  /// The graph's fingerprint.
  package var graph: String
  package var precision: String
  package var threads: Int
  /// At least one.
  package var entries: [Entry]
  /// The plan to use: a mix only where it was measured faster than the fastest single device.
  package var chosen: Int
  /// Why, in words.
  package var reason: String

  package init(graph: String, precision: String, threads: Int, entries: [Entry], chosen: Int, reason: String) {
    self.graph = graph
    self.precision = precision
    self.threads = threads
    self.entries = entries
    self.chosen = chosen
    self.reason = reason
  }

  /// What paired rounds say: the fastest single device, unless another plan was measured faster than it.
  ///
  /// - Parameter seconds: for each plan its rounds, sample i of all from one round.
  /// - Throws: `MeasurementError` where there are none, or not of each plan as many.
  package init(
    graph: String, precision: String, threads: Int,
    entries: [(label: String, placement: [String: String], predicted: Double, isSingleDevice: Bool)],
    seconds: [[Double]]
  ) throws(MeasurementError) {
    let entries = try zip(entries, seconds).map { entry, seconds throws(MeasurementError) in
      let statistics = try LatencyStatistics(seconds)
      return Entry(
        label: entry.label, placement: entry.placement, predicted: entry.predicted, seconds: statistics.median,
        interval: statistics.medianInterval, samples: statistics.count, isSingleDevice: entry.isSingleDevice)
    }
    let (chosen, reason) = try Self.choose(entries, seconds)
    self.init(
      graph: graph, precision: precision, threads: threads, entries: entries, chosen: chosen, reason: reason)
  }

  private static func choose(
    _ entries: [Entry], _ seconds: [[Double]]
  ) throws(MeasurementError) -> (index: Int, reason: String) {
    func text(_ index: Int) -> String { HumanReadable.seconds(entries[index].seconds) }
    guard let fastest = entries.indices.min(by: { entries[$0].seconds < entries[$1].seconds }) else {
      throw .tooFewSamples(needed: 1, got: 0)
    }
    let singles = entries.indices.filter { entries[$0].isSingleDevice }
    guard let single = singles.min(by: { entries[$0].seconds < entries[$1].seconds }), single != fastest else {
      return (fastest, "'\(entries[fastest].label)' ran fastest of \(entries.count) plans tried: \(text(fastest))")
    }
    let comparison = try PairedComparison(candidate: seconds[fastest], baseline: seconds[single])
    if comparison.verdict == .faster {
      let factor = HumanReadable.significant(1 / comparison.ratio)
      return (
        fastest,
        "'\(entries[fastest].label)' ran \(factor) × faster than '\(entries[single].label)':"
          + " \(text(fastest)) against \(text(single))"
      )
    }
    return (
      single,
      "'\(entries[fastest].label)' was not measured faster than '\(entries[single].label)'"
        + " (\(text(single))): \(Self.doubt(comparison)), of \(entries.count) plans tried"
    )
  }

  /// What a comparison leaves open: "0.94 ×, between 0.86 and 1.03, in 12 pairs".
  private static func doubt(_ comparison: PairedComparison) -> String {
    let pairs = "\(comparison.pairs) pair\(comparison.pairs == 1 ? "" : "s")"
    guard comparison.pairs >= PairedComparison.fewestPairs else { return "\(pairs), too few to tell" }
    let (lower, upper) = (comparison.interval.lower, comparison.interval.upper)
    return "\(HumanReadable.significant(comparison.ratio)) ×, between \(HumanReadable.significant(lower)) and"
      + " \(HumanReadable.significant(upper)), in \(pairs)"
  }

  /// Devices on which the plans put something.
  package var devices: Set<String> { Set(entries.flatMap { $0.placement.values }) }

  /// The entry of a placement; nil where it was not tried.
  package func entry(_ placement: [String: String]) -> Entry? { entries.first { $0.placement == placement } }
}
