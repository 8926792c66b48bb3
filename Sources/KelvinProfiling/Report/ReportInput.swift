/// Everything the HTML report shows. Plain values; seconds and bytes throughout.
package struct ReportInput: Sendable, Hashable, Codable {
  /// Of the page, e.g. the model's name.
  package var title: String
  /// The sentence that recommends, first thing on the page.
  package var verdict: String
  /// Sentences that qualify the verdict, e.g. the winner for each workload.
  package var findings: [String]
  package var kelvinVersion: String
  /// When it was measured, in words; the caller's clock.
  package var generated: String
  package var machine: MachineDescription
  package var model: ReportModel
  /// In words: `one-shot and stream at 30 frames/s for 60 s`.
  package var workload: String
  /// Their order decides colours and patterns.
  package var devices: [ReportDevice]
  package var configurations: [ReportConfiguration]
  package var placements: [ReportPlacement]
  package var timelines: [ReportTimeline]
  package var series: [ReportSeries]
  /// How it was measured, disturbances, what is missing.
  package var notes: [String]

  package init(
    title: String, verdict: String, findings: [String] = [], kelvinVersion: String, generated: String,
    machine: MachineDescription, model: ReportModel, workload: String, devices: [ReportDevice],
    configurations: [ReportConfiguration] = [], placements: [ReportPlacement] = [], timelines: [ReportTimeline] = [],
    series: [ReportSeries] = [], notes: [String] = []
  ) {
    self.title = title
    self.verdict = verdict
    self.findings = findings
    self.kelvinVersion = kelvinVersion
    self.generated = generated
    self.machine = machine
    self.model = model
    self.workload = workload
    self.devices = devices
    self.configurations = configurations
    self.placements = placements
    self.timelines = timelines
    self.series = series
    self.notes = notes
  }
}

package struct ReportModel: Sendable, Hashable, Codable {
  package var name: String
  /// `ML Program`, `ONNX`.
  package var format: String
  package var layers: Int
  package var weightBytes: Int

  package init(name: String, format: String, layers: Int, weightBytes: Int) {
    self.name = name
    self.format = format
    self.layers = layers
    self.weightBytes = weightBytes
  }
}

package struct ReportDevice: Sendable, Hashable, Codable {
  package var id: String
  package var name: String
  /// `CPU`, `GPU`, `software driver on the CPU`.
  package var kind: String
  package var driver: String

  package init(id: String, name: String, kind: String, driver: String) {
    self.id = id
    self.name = name
    self.kind = kind
    self.driver = driver
  }
}

/// One row of the comparison. A missing measurement is nil, never zero.
package struct ReportConfiguration: Sendable, Hashable, Codable {
  package var units: String
  package var isRecommended: Bool
  package var load: Double?
  package var compile: Double?
  package var first: Double?
  package var p50: Double?
  package var p90: Double?
  package var p99: Double?
  package var samples: Int
  /// Inferences per second.
  package var throughput: Double?
  /// Last third over first third; 1 is steady.
  package var drift: Double?
  package var dropped: Int
  package var thermal: ThermalState?
  /// What knows the thermal state: `ThermalReport.sourceDescription`.
  package var thermalSource: String
  package var agreement: ReportAgreement?
  /// Against the recommended configuration, in words: `1.8 × slower (1.7 to 1.9)`.
  package var comparison: String
  /// Windows set aside because of steal or pressure.
  package var disturbedWindows: Int

  package init(
    units: String, isRecommended: Bool = false, load: Double? = nil, compile: Double? = nil, first: Double? = nil,
    p50: Double? = nil, p90: Double? = nil, p99: Double? = nil, samples: Int = 0, throughput: Double? = nil,
    drift: Double? = nil, dropped: Int = 0, thermal: ThermalState? = nil, thermalSource: String = "",
    agreement: ReportAgreement? = nil, comparison: String = "", disturbedWindows: Int = 0
  ) {
    self.units = units
    self.isRecommended = isRecommended
    self.load = load
    self.compile = compile
    self.first = first
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
    self.samples = samples
    self.throughput = throughput
    self.drift = drift
    self.dropped = dropped
    self.thermal = thermal
    self.thermalSource = thermalSource
    self.agreement = agreement
    self.comparison = comparison
    self.disturbedWindows = disturbedWindows
  }
}

/// Outputs against the reference device.
package struct ReportAgreement: Sendable, Hashable, Codable {
  /// Share of inputs with the same best class, 0...1; nil for models without classes.
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
