import KelvinBasics

/// The comparison of a graph's plans that were run in turns on this machine, with the plan to use.
package struct TriedPlans: Sendable, Hashable, Codable {
  package struct Entry: Sendable, Hashable, Codable {
    /// `best`, or `only vulkan:0`.
    package var label: String
    /// The device id of each node, by name.
    package var placement: [String: String]
    /// The seconds that were predicted when the plan was run.
    package var predicted: Double
    /// Median seconds of one warm inference.
    package var seconds: Double
    package var interval: ConfidenceInterval
    package var samples: Int
    /// Whether one device runs every node that it can.
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

  /// The fingerprint of the graph.
  package var graph: String
  package var precision: String
  package var threads: Int
  /// The compared plans, at least one.
  package var entries: [Entry]
  /// The index of the plan to use: a mixed plan only when it was measured faster than the fastest single device.
  package var chosen: Int
  /// The reason in words.
  package var reason: String
  /// Whether other processes disturbed rounds that count; nil in documents without it.
  package var isDisturbed: Bool?

  package init(
    graph: String, precision: String, threads: Int, entries: [Entry], chosen: Int, reason: String,
    isDisturbed: Bool? = nil
  ) {
    self.isDisturbed = isDisturbed
    self.graph = graph
    self.precision = precision
    self.threads = threads
    self.entries = entries
    self.chosen = chosen
    self.reason = reason
  }

  /// Chooses from paired rounds: the fastest single device, unless another plan was measured faster.
  ///
  /// - Parameters:
  ///   - seconds: the rounds of each plan; sample i of all plans is from the same round.
  ///   - latencies: the time of each plan, from these and further rounds; nil for the times of these rounds.
  ///   - isDisturbed: whether other processes disturbed rounds that count.
  /// - Throws: `MeasurementError` when there are no rounds, or not the same number for each plan.
  package init(
    graph: String, precision: String, threads: Int,
    entries: [(label: String, placement: [String: String], predicted: Double, isSingleDevice: Bool)],
    seconds: [[Double]], latencies: [LatencyStatistics]? = nil, isDisturbed: Bool = false
  ) throws(MeasurementError) {
    let own = try seconds.map { seconds throws(MeasurementError) in try LatencyStatistics(seconds) }
    let entries = zip(entries, latencies ?? own).map { entry, statistics in
      Entry(
        label: entry.label, placement: entry.placement, predicted: entry.predicted, seconds: statistics.median,
        interval: statistics.medianInterval, samples: statistics.count, isSingleDevice: entry.isSingleDevice)
    }
    let (chosen, reason) = try Self.choose(entries, seconds)
    self.init(
      graph: graph, precision: precision, threads: threads, entries: entries, chosen: chosen, reason: reason,
      isDisturbed: isDisturbed ? true : nil)
  }

  /// Whether both compare plans under the same conditions.
  package func isAbout(_ other: TriedPlans) -> Bool {
    graph == other.graph && precision == other.precision && threads == other.threads && devices == other.devices
  }

  /// Whether this later trial replaces an earlier one of the same plans. A disturbed trial does not replace a quiet one.
  package func replaces(_ earlier: TriedPlans) -> Bool {
    isAbout(earlier) && !(isDisturbed == true && earlier.isDisturbed != true)
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

  /// Returns the result of an undecided comparison: "0.94 ×, between 0.86 and 1.03, in 12 pairs".
  private static func doubt(_ comparison: PairedComparison) -> String {
    let pairs = "\(comparison.pairs) pair\(comparison.pairs == 1 ? "" : "s")"
    guard comparison.pairs >= PairedComparison.fewestPairs else { return "\(pairs), too few to tell" }
    let (lower, upper) = (comparison.interval.lower, comparison.interval.upper)
    return "\(HumanReadable.significant(comparison.ratio)) ×, between \(HumanReadable.significant(lower)) and"
      + " \(HumanReadable.significant(upper)), in \(pairs)"
  }

  /// The devices that the plans use.
  package var devices: Set<String> { Set(entries.flatMap { $0.placement.values }) }

  /// Returns the entry of a placement; nil when it was not run.
  package func entry(_ placement: [String: String]) -> Entry? { entries.first { $0.placement == placement } }
}
