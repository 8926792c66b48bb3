package import KelvinMeasurements
package import KelvinThermal

/// One row of the comparison. A missing measurement is nil, never zero.
package struct ReportConfiguration: Sendable {
  package var units: String
  package var isRecommended = false
  /// The time from the start of the process to the first answer in seconds; at least the sum of its parts.
  package var total: Double?
  /// The time from the start of the process until its devices are open; nil for starts within a process.
  package var launch: Double?
  package var load: Double?
  package var compile: Double?
  /// The time of the first inference.
  package var first: Double?
  package var p50: Double?
  package var p90: Double?
  package var p99: Double?
  /// The confidence interval of the median.
  package var p50Interval: ConfidenceInterval?
  package var samples = 0
  /// The number of inferences per second.
  package var throughput: Double?
  /// The ratio of the throughput in the last third to that in the first third; 1 is steady.
  package var drift: Double?
  package var dropped = 0
  package var thermal: ThermalState?
  /// The source of the thermal state: `ThermalReport.sourceDescription`.
  package var thermalSource = ""
  package var agreement: ReportAgreement?
  /// The comparison with the recommended configuration: `1.8 × slower (1.7 to 1.9)`.
  package var comparison = ""
  /// The number of windows that were excluded because of steal time or pressure.
  package var disturbedWindows = 0
  /// The measured energy of one inference in words, such as `12.3 mJ (12.0 to 12.6)`, and its source.
  package var energy: String?
  package var energySource = ""
  /// Further facts, such as a reserved share or a governor's actions.
  package var facts: [ReportFact] = []

  package init(units: String) { self.units = units }

  /// Sets the latencies.
  package mutating func set(_ latency: LatencyStatistics?) {
    (p50, p90, p99) = (latency?.p50, latency?.p90, latency?.p99)
    (p50Interval, samples) = (latency?.medianInterval, latency?.count ?? 0)
  }
}

/// The agreement of outputs with the reference device's.
package struct ReportAgreement: Sendable, Hashable, Codable {
  /// The share of inputs with the same best class, 0…1; nil for models without classes.
  package var top1: Double?
  package var largestDifference: Double
  package var meanDifference: Double
  package var inputs: Int

  package init(top1: Double?, largestDifference: Double, meanDifference: Double, inputs: Int) {
    self.top1 = top1
    self.largestDifference = largestDifference
    self.meanDifference = meanDifference
    self.inputs = inputs
  }
}
