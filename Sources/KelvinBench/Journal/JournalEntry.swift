package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
package import KelvinStreams
package import KelvinThermal

/// One thing that a benchmark learned, as it is kept: a line of its journal. Seconds, joules, bytes.
///
/// Configurations go by their place in the order given. Rounds are counted within their phase, and within it by each
/// configuration for itself.
package enum JournalEntry: Sendable, Codable {
  /// What was asked for, and of what. The first entry.
  case benchmark(Benchmark)
  /// A configuration, in the order given, before anything is measured of it.
  case configuration(Configuration)
  /// A complete start.
  case start(configuration: Int, isCold: Bool, seconds: ConfigurationResult.Start)
  /// One round of warm inferences.
  case warm(configuration: Int, seconds: [Double])
  /// One round of the load that goes on; joules are nil where they cannot be known.
  case slice(configuration: Int, slice: FrameSlice, energy: EnergyUse)
  /// A look at the machine's heat, in the configuration's own time.
  case heat(configuration: Int, heat: ReportSeries.Heat, source: String, remarks: [String])
  case action(configuration: Int, action: GovernorAction)
  /// One sequence of tokens; energy is nil for the first, which is not part of the load that goes on.
  case tokens(configuration: Int, run: TokenRun, energy: EnergyUse?)
  /// Where what a model remembers of tokens lies.
  case memory(configuration: Int, text: String)
  /// What its governor may change to, with what that saves and costs; of a stream that has no governor its one plan.
  case ladder(configuration: Int, ladder: StreamLadder)
  /// What others took while it had its turn.
  case contention(configuration: Int, contention: Contention)
  case pipeline(configuration: Int, pipeline: ConfigurationResult.Pipeline)
  case weights(configuration: Int, weights: WeightReport)
  case agreement(configuration: Int, agreement: ReportAgreement)
  /// One inference, measured inside.
  case trace(configuration: Int, events: [TraceEvent])
  /// Why it takes no further part.
  case failure(configuration: Int, reason: String)
  /// Whether rounds of a phase were disturbed, from one of them on: what is known later replaces what was thought.
  case rounds(phase: BenchmarkSample.Phase, planned: Int, from: Int, disturbed: [Bool])
  /// All rounds of a phase were made.
  case completed(phase: BenchmarkSample.Phase)
  case note(String)
  /// Why outputs were not compared with the reference device's; empty where they were.
  case agreementRemark(String)
  /// The user gave up.
  case interruption(String)

  package struct Benchmark: Sendable, Codable {
    package static let format = "kelvin-journal"
    package static let version = 1

    package var format = Benchmark.format
    package var version = Benchmark.version
    package var kelvinVersion: String
    /// When it began, in words.
    package var date: String
    package var machine: MachineDescription
    package var model: ReportModel
    package var workload: Workload
    /// Whose heat a stream had in place of the machine's; nil for its own.
    package var simulatedHeat: SimulatedHeat.Setup?
    /// Of the whole machine.
    package var devices: [ReportDevice]
    /// What limits trust in what follows, known beforehand.
    package var notes: [String]
  }

  package struct Configuration: Sendable, Codable {
    package var label: String
    package var solution: PlanSolution
    package var plan: Plan
    package var tried: TriedPlans?
    /// The identifiers of the devices that run its layers.
    package var devices: [String]
    /// The identifiers of those and of all that could run a layer.
    package var considered: [String]
    /// Of the CPU device.
    package var threads: Int
    /// The first configuration that runs the same plan, itself where there is none before.
    package var samePlanAs: Int
    package var notes: [String]
  }
}
