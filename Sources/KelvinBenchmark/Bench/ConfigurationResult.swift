package import KelvinPlanning
package import KelvinProfiling
package import KelvinRuntime

/// Everything measured of one configuration. Seconds throughout.
package struct ConfigurationResult: Sendable {
  /// One complete start.
  package struct Start: Sendable, Hashable, Codable {
    /// Reading the model, its files forgotten by the page cache before.
    package var load: Double
    /// With the compiled cache as it was found; the first start of all may have filled it.
    package var compile: Double
    package var first: Double
    package var total: Double { load + compile + first }
  }

  /// A load that goes on.
  package struct Sustained: Sendable {
    /// From arrival to answer.
    package var latency: LatencyStatistics
    /// Answers a second.
    package var throughput: Double
    /// Last third over first third; 1 is steady.
    package var drift: Double?
    package var served: Int
    package var dropped: Int
    package var fit: DecayFit?
    /// Answers over the configuration's own time.
    package var points: [ReportSeries.Point]
    package var heat: [ReportSeries.Heat]
    package var joulesPerInference: Double?
    package var energySource: String
  }

  package var label: String
  package var explanation: PlanExplanation
  package var plan: Plan
  package var trial: PlanTrial?
  package var devices: [String]
  package var starts: [Start]
  /// Compiling with nothing to be found in a cache.
  package var compileUncached: Double
  /// One inference after the other.
  package var warm: LatencyStatistics
  /// Throughput of the last third of the warm inferences over that of the first; nil where there are too few.
  package var warmDrift: Double?
  package var weights: WeightReport
  package var sustained: Sustained?
  /// The hottest state seen while it ran, and who says so.
  package var thermal: ThermalState?
  package var thermalSource: String
  /// Stretches of time that were looked at, and those in which others took processor time.
  package var windows: Int
  package var disturbedWindows: Int
  package var agreement: ReportAgreement?
  /// Why there is none.
  package var agreementRemark: String
  /// One inference.
  package var trace: [TraceEvent]

  /// Nearest-rank medians of the starts.
  package var load: Double { Self.median(starts.map(\.load)) }
  package var compile: Double { Self.median(starts.map(\.compile)) }
  package var first: Double { Self.median(starts.map(\.first)) }

  /// The latencies that the workload is about.
  package var latency: LatencyStatistics { sustained?.latency ?? warm }

  private static func median(_ values: [Double]) -> Double { (try? LatencyStatistics(values).median) ?? 0 }
}

/// A whole comparison.
package struct BenchmarkResult: Sendable {
  package var kelvinVersion: String
  package var machine: MachineDescription
  package var model: ReportModel
  package var workload: Workload
  package var devices: [ReportDevice]
  package var configurations: [ConfigurationResult]
  package var verdict: Verdict
  /// Against the verdict's best, in words, for each configuration.
  package var comparisons: [String]
  /// How it was measured, disturbances, what is missing.
  package var notes: [String]

  /// The plan worth keeping.
  package var bestPlan: Plan { configurations[verdict.best].plan }
}
