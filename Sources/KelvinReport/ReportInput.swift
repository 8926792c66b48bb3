package import KelvinMeasurements

/// The content of an HTML report as plain values. Times are in seconds and sizes in bytes.
package struct ReportInput: Sendable, Hashable, Codable {
  /// The title of the page, for example the model's name.
  package var title: String
  /// The recommendation in one sentence, which comes first on the page.
  package var verdict: String
  /// Sentences that qualify the verdict, for example the best configuration for each workload.
  package var findings: [String]
  package var kelvinVersion: String
  /// The time of the measurement as formatted by the caller.
  package var generated: String
  package var machine: MachineDescription
  package var model: ReportModel
  /// The recommendations for several questions; nil for a page about a single one.
  package var advice: ReportAdvice?
  /// A description of the workload: `one-shot and stream at 30 frames/s for 60 s`.
  package var workload: String
  /// The subject of the latencies: `one inference`, `a frame of the stream, from its arrival to its answer`.
  package var latencyOf: String
  /// The devices; their order determines colours and patterns.
  package var devices: [ReportDevice]
  package var configurations: [ReportConfiguration]
  package var placements: [ReportPlacement]
  package var timelines: [ReportTimeline]
  package var series: [ReportSeries]
  /// The token rates, one entry for each configuration that generated tokens.
  package var tokens: [ReportTokens]
  /// The breakdown of the time of one inference, one row for each device or configuration.
  package var accounts: [ReportAccount]
  /// The plans that were predicted and then measured.
  package var checks: [ReportCheck]
  /// Notes about the method, disturbances and missing data.
  package var notes: [String]

  package init(
    title: String, verdict: String, findings: [String] = [], kelvinVersion: String, generated: String,
    machine: MachineDescription, model: ReportModel, workload: String, latencyOf: String = "one inference",
    devices: [ReportDevice],
    configurations: [ReportConfiguration] = [], placements: [ReportPlacement] = [], timelines: [ReportTimeline] = [],
    series: [ReportSeries] = [], tokens: [ReportTokens] = [], accounts: [ReportAccount] = [],
    checks: [ReportCheck] = [],
    notes: [String] = []
  ) {
    self.title = title
    self.verdict = verdict
    self.findings = findings
    self.kelvinVersion = kelvinVersion
    self.generated = generated
    self.machine = machine
    self.model = model
    self.workload = workload
    self.latencyOf = latencyOf
    self.devices = devices
    self.configurations = configurations
    self.placements = placements
    self.timelines = timelines
    self.series = series
    self.tokens = tokens
    self.accounts = accounts
    self.checks = checks
    self.notes = notes
  }
}

package struct ReportModel: Sendable, Hashable, Codable {
  package var name: String
  /// The format: `ML Program`, `ONNX`.
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
  /// The kind: `CPU`, `GPU`, `software driver on the CPU`.
  package var kind: String
  package var driver: String

  package init(id: String, name: String, kind: String, driver: String) {
    self.id = id
    self.name = name
    self.kind = kind
    self.driver = driver
  }
}

/// A named, formatted value that only some reports have: a bottleneck, a frame rate, a background load.
package struct ReportFact: Sendable, Hashable, Codable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A breakdown of the time of one inference in seconds. The parts add up to `total`.
package struct ReportAccount: Sendable, Hashable, Codable {
  package var units: String
  package var layers: Double
  package var transfers: Double
  package var waits: Double
  package var residual: Double

  package init(units: String, layers: Double, transfers: Double, waits: Double, residual: Double) {
    self.units = units
    self.layers = layers
    self.transfers = transfers
    self.waits = waits
    self.residual = residual
  }

  package var total: Double { layers + transfers + waits + residual }
}

/// The predicted and the measured time of a plan in seconds.
package struct ReportCheck: Sendable, Hashable, Codable {
  package var label: String
  package var predicted: Double
  package var measured: Double
  /// The confidence interval of the measurement.
  package var interval: ConfidenceInterval?
  package var samples: Int
  /// Whether the measurement was free of interference from other processes.
  package var isUndisturbed: Bool

  package init(
    label: String, predicted: Double, measured: Double, interval: ConfidenceInterval? = nil, samples: Int = 0,
    isUndisturbed: Bool = true
  ) {
    self.label = label
    self.predicted = predicted
    self.measured = measured
    self.interval = interval
    self.samples = samples
    self.isUndisturbed = isUndisturbed
  }
}
