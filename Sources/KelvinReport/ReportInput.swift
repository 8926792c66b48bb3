package import KelvinMeasurements

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
  /// What to pick for each question; nil for a page about one of them.
  package var advice: ReportAdvice?
  /// In words: `one-shot and stream at 30 frames/s for 60 s`.
  package var workload: String
  /// What the configurations' latencies are of: `one inference`, `a frame of the stream, from its arrival to its answer`.
  package var latencyOf: String
  /// Their order decides colours and patterns.
  package var devices: [ReportDevice]
  package var configurations: [ReportConfiguration]
  package var placements: [ReportPlacement]
  package var timelines: [ReportTimeline]
  package var series: [ReportSeries]
  /// One for each configuration that made tokens.
  package var tokens: [ReportTokens]
  /// Where the time of one inference went, a row for each device or configuration.
  package var accounts: [ReportAccount]
  /// Plans that were predicted and then run.
  package var checks: [ReportCheck]
  /// How it was measured, disturbances, what is missing.
  package var notes: [String]

  package init(
    title: String, verdict: String, findings: [String] = [], kelvinVersion: String, generated: String,
    machine: MachineDescription, model: ReportModel, workload: String, latencyOf: String = "one inference",
    devices: [ReportDevice],
    configurations: [ReportConfiguration] = [], placements: [ReportPlacement] = [], timelines: [ReportTimeline] = [],
    series: [ReportSeries] = [], tokens: [ReportTokens] = [], accounts: [ReportAccount] = [], checks: [ReportCheck] = [],
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

/// A number with its name, as text, for what only some reports know: a bottleneck, frames a second, a co-load.
package struct ReportFact: Sendable, Hashable, Codable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Where the time of one inference went; the parts add up to `total`. Seconds.
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

/// A plan's prediction against the same plan run. Seconds.
package struct ReportCheck: Sendable, Hashable, Codable {
  package var label: String
  package var predicted: Double
  package var measured: Double
  /// Of the measurement.
  package var interval: ConfidenceInterval?
  package var samples: Int
  /// Whether nobody else took processor time meanwhile.
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
