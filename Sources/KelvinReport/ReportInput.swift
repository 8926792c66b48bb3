package import KelvinMeasurements

/// The content of an HTML report as plain values. Times are in seconds and sizes in bytes.
package struct ReportInput: Sendable {
  /// The title of the page, for example the model's name.
  package var title: String
  /// The recommendation in one sentence, which comes first on the page.
  package var verdict: String
  /// Sentences that qualify the verdict, for example the best configuration for each workload.
  package var findings: [String] = []
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
  package var latencyOf = "one inference"
  /// The devices; their order determines colours and patterns.
  package var devices: [ReportDevice]
  package var configurations: [ReportConfiguration] = []
  package var placements: [ReportPlacement] = []
  package var timelines: [ReportTimeline] = []
  package var series: [ReportSeries] = []
  /// The token rates, one table for each configuration that generated tokens.
  package var tokens: [ReportTable] = []
  /// The breakdown of the time of one inference with layer timers, one row for each device.
  package var accounts: [(units: String, account: Account)] = []
  /// The plans that were predicted and then measured.
  package var checks: [PlanCheck] = []
  /// Notes about the method, disturbances and missing data.
  package var notes: [String] = []

  package init(
    title: String, verdict: String, kelvinVersion: String, generated: String, machine: MachineDescription,
    model: ReportModel, workload: String, devices: [ReportDevice]
  ) {
    self.title = title
    self.verdict = verdict
    self.kelvinVersion = kelvinVersion
    self.generated = generated
    self.machine = machine
    self.model = model
    self.workload = workload
    self.devices = devices
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
