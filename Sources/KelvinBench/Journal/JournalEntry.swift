package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
package import KelvinStreams
package import KelvinThermal

/// An entry of a benchmark's journal, one line of the file. Units are seconds, joules and bytes.
///
/// Configurations are identified by their index in the order given. Rounds are counted within their phase, separately
/// for each configuration.
package enum JournalEntry: Sendable, Codable {
  /// The request and the model. Always the first entry.
  case benchmark(Benchmark)
  /// A configuration, before its measurement, in the order given.
  case configuration(Configuration)
  /// A complete start.
  case start(configuration: Int, isCold: Bool, seconds: ConfigurationResult.Start)
  /// One round of warm inferences.
  case warm(configuration: Int, seconds: [Double])
  /// One round of the sustained load; joules are nil when they are unknown.
  case slice(configuration: Int, slice: FrameSlice, energy: EnergyUse)
  /// A sample of the machine's heat, in the configuration's own time.
  case heat(configuration: Int, heat: ReportSeries.Heat, source: String, remarks: [String])
  case action(configuration: Int, action: GovernorAction)
  /// One sequence of tokens. Energy is nil for the first one, which is not part of the sustained load.
  case tokens(configuration: Int, run: TokenRun, energy: EnergyUse?)
  /// The storage of the model's token state (KV cache), in words.
  case memory(configuration: Int, text: String)
  /// The ladder of its governor, with the effect of each setting; for a stream without a governor, its only plan.
  case ladder(configuration: Int, ladder: StreamLadder)
  /// The contention during one of its turns.
  case contention(configuration: Int, contention: Contention)
  case pipeline(configuration: Int, pipeline: ConfigurationResult.Pipeline)
  case weights(configuration: Int, weights: WeightReport)
  case agreement(configuration: Int, agreement: ReportAgreement)
  /// The events of one inference.
  case trace(configuration: Int, events: [TraceEvent])
  /// The reason for which the configuration failed.
  case failure(configuration: Int, reason: String)
  /// Whether the rounds of a phase from `from` on were disturbed. Later entries replace earlier ones.
  case rounds(phase: BenchmarkSample.Phase, planned: Int, from: Int, disturbed: [Bool])
  /// The end of a phase whose rounds were all made.
  case completed(phase: BenchmarkSample.Phase)
  case note(String)
  /// The reason for which outputs were not compared with the reference device's; empty when they were.
  case agreementRemark(String)
  /// The user interrupted the benchmark.
  case interruption(String)

  package struct Benchmark: Sendable, Codable {
    package static let format = "kelvin-journal"
    package static let version = 1

    package var format = Benchmark.format
    package var version = Benchmark.version
    package var kelvinVersion: String
    /// The date and time of the start as a string.
    package var date: String
    package var machine: MachineDescription
    package var model: ReportModel
    package var workload: Workload
    /// The machine whose heat was simulated; nil when the machine itself is observed.
    package var simulatedHeat: SimulatedHeat.Setup?
    /// All devices of the machine.
    package var devices: [ReportDevice]
    /// Limits of the measurements that are known beforehand.
    package var notes: [String]
  }

  package struct Configuration: Sendable, Codable {
    package var label: String
    package var solution: PlanSolution
    package var plan: Plan
    package var tried: TriedPlans?
    /// The identifiers of the devices that run its layers.
    package var devices: [String]
    /// The identifiers of these devices and of all that could run a layer.
    package var considered: [String]
    /// The threads of the CPU device.
    package var threads: Int
    /// The index of the first configuration that runs the same plan, possibly its own.
    package var samePlanAs: Int
    package var notes: [String]
  }
}
