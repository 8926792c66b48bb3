package import KelvinMeasurements
package import KelvinThermal

/// One row of the comparison. A missing measurement is nil, never zero.
package struct ReportConfiguration: Sendable, Hashable, Codable {
  package var units: String
  package var isRecommended: Bool
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
  package var samples: Int
  /// The number of inferences per second.
  package var throughput: Double?
  /// The ratio of the throughput in the last third to that in the first third; 1 is steady.
  package var drift: Double?
  package var dropped: Int
  package var thermal: ThermalState?
  /// The source of the thermal state: `ThermalReport.sourceDescription`.
  package var thermalSource: String
  package var agreement: ReportAgreement?
  /// The comparison with the recommended configuration: `1.8 × slower (1.7 to 1.9)`.
  package var comparison: String
  /// The number of windows that were excluded because of steal time or pressure.
  package var disturbedWindows: Int
  /// The energy of one inference in joules, and its source.
  package var joules: Double?
  package var energySource: String
  /// Further facts, such as a reserved share or a governor's actions.
  package var facts: [ReportFact]

  package init(
    units: String, isRecommended: Bool = false, total: Double? = nil, launch: Double? = nil, load: Double? = nil,
    compile: Double? = nil, first: Double? = nil,
    p50: Double? = nil, p90: Double? = nil, p99: Double? = nil, p50Interval: ConfidenceInterval? = nil,
    samples: Int = 0, throughput: Double? = nil, drift: Double? = nil, dropped: Int = 0,
    thermal: ThermalState? = nil, thermalSource: String = "",
    agreement: ReportAgreement? = nil, comparison: String = "", disturbedWindows: Int = 0,
    joules: Double? = nil, energySource: String = "", facts: [ReportFact] = []
  ) {
    self.units = units
    self.isRecommended = isRecommended
    self.total = total
    self.launch = launch
    self.load = load
    self.compile = compile
    self.first = first
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
    self.p50Interval = p50Interval
    self.samples = samples
    self.throughput = throughput
    self.drift = drift
    self.dropped = dropped
    self.thermal = thermal
    self.thermalSource = thermalSource
    self.agreement = agreement
    self.comparison = comparison
    self.disturbedWindows = disturbedWindows
    self.joules = joules
    self.energySource = energySource
    self.facts = facts
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
