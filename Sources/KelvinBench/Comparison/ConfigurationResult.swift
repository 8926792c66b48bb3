package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
package import KelvinStreams
package import KelvinThermal

/// Everything measured of one configuration. Seconds throughout.
package struct ConfigurationResult: Sendable {
  /// One complete start.
  package struct Start: Sendable, Hashable, Codable {
    /// From the start of a process until its devices are open; 0 for starts within this process.
    package var launch: Double
    /// Reading the model, and adopting the plan.
    package var load: Double
    package var compile: Double
    /// The first inference.
    package var first: Double
    /// From the beginning to the first answer; at least the sum of the others.
    package var total: Double
    /// Of the process, when it had answered; nil for starts within this process.
    package var memory: MemoryUse?

    package init(
      launch: Double = 0, load: Double, compile: Double, first: Double, total: Double? = nil, memory: MemoryUse? = nil
    ) {
      self.memory = memory
      self.launch = launch
      self.load = load
      self.compile = compile
      self.first = first
      let sum = launch + load + compile + first
      self.total = max(sum, total ?? sum)
    }
  }

  /// Several inferences in flight.
  package struct Pipeline: Sendable, Hashable, Codable {
    package struct Attempt: Sendable, Hashable, Codable {
      package var inFlight: Int
      /// Answers a second.
      package var rate: Double
    }
    package var inFlight: Int
    /// Numbers in flight that were tried before one was taken; empty where the workload gave it.
    package var attempts: [Attempt]
    /// The plan's prediction of the busiest resource, and of the seconds it needs for each frame.
    package var bottleneck: Bottleneck?
  }

  /// What one plan of a governor's ladder did.
  package struct PlanAnswers: Sendable, Hashable, Codable {
    package var label: String
    package var frames: Int
    /// The median from a frame's beginning to its answer.
    package var seconds: Double
  }

  /// A load that goes on.
  package struct Sustained: Sendable {
    /// From arrival to answer.
    package var latency: LatencyStatistics
    /// Of the first and of the last window; nil for fewer than two windows.
    package var first: LatencyStatistics?
    package var last: LatencyStatistics?
    /// Answers a second.
    package var throughput: Double
    /// Last third over first third; 1 is steady.
    package var drift: Double?
    package var served: Int
    package var dropped: Int
    /// Frames that the governor did not take.
    package var skipped: Int
    package var fit: DecayFit?
    /// Answers over the configuration's own time.
    package var points: [ReportSeries.Point]
    package var heat: [ReportSeries.Heat]
    package var joulesPerInference: Double?
    package var energySource: String
    /// Every part of it was read from a counter.
    package var isEnergyMeasured: Bool
    /// Joules of one inference where something measured them: an estimate tells configurations apart, and no more.
    package var measuredJoules: Double? { isEnergyMeasured ? joulesPerInference : nil }
    /// What one frame of a stream takes as it is paced: its median latency, or where frames wait for each other what the
    /// rate leaves it.
    package var secondsPerFrame: Double { min(latency.p50, 1 / max(throughput, 1e-9)) }
    package var pipeline: Pipeline?
    /// What the governor did, in the configuration's own time.
    package var actions: [GovernorAction]
    /// What the governor could do; nil where none was prepared.
    package var ladder: StreamLadder?
    /// By plan of the ladder, in its order.
    package var answers: [PlanAnswers]
    /// Seconds that were measured.
    package var duration: Double
  }

  package var label: String
  /// What the plan was made from.
  package var solution: PlanSolution
  package var plan: Plan
  package var trial: TriedPlans?
  package var devices: [String]
  /// Of the CPU device.
  package var threads: Int
  /// With nothing cached.
  package var coldStarts: [Start]
  /// With what an earlier start has cached.
  package var starts: [Start]
  /// One inference after the other; nil where none was measured.
  package var warm: LatencyStatistics?
  /// The warm 90th percentile as MLPerf's rules claim it; nil where nothing was measured.
  package var earlyStopping: EarlyStopping?
  /// Throughput of the last third of the warm inferences over that of the first; nil where there are too few.
  package var warmDrift: Double?
  package var weights: WeightReport?
  package var sustained: Sustained?
  /// Nil where it made no tokens.
  package var tokens: TokenFigures?
  /// The hottest state seen while it ran, and who says so.
  package var thermal: ThermalState?
  package var thermalSource: String
  package var contention: ContentionSummary
  package var agreement: ReportAgreement?
  /// Why there is none.
  package var agreementRemark: String
  /// One inference.
  package var trace: [TraceEvent]
  /// Everything that was timed, in order.
  package var samples: [BenchmarkSample]
  /// What can be held against another run.
  package var figures: [Figure]
  /// Why it was not measured to the end; nil where it was.
  package var failure: String?

  /// Nearest-rank medians of the cached starts; nil where there were none.
  package var launch: Double? { Self.median(starts.map(\.launch)) }
  package var load: Double? { Self.median(starts.map(\.load)) }
  package var compile: Double? { Self.median(starts.map(\.compile)) }
  package var first: Double? { Self.median(starts.map(\.first)) }
  package var total: Double? { Self.median(starts.map(\.total)) }
  /// The most memory that a start with caches took; nil where none was a process of its own.
  package var memory: MemoryUse? {
    starts.compactMap(\.memory).reduce(nil) { most, next in most.map { $0.union(next) } ?? next }
  }
  /// Of the cold starts.
  package var compileUncached: Double? { Self.median(coldStarts.map(\.compile)) }
  package var coldTotal: Double? { Self.median(coldStarts.map(\.total)) }

  /// Stretches of time that were looked at, and those in which others took processor time.
  package var windows: Int { contention.windows }
  package var disturbedWindows: Int { contention.disturbed }

  /// The latencies that the workload is about; nil where none was measured.
  package var latency: LatencyStatistics? { sustained?.latency ?? warm }
  /// Answers a second under the workload; nil where nothing was measured.
  package var throughput: Double? { sustained?.throughput ?? warm.flatMap { $0.mean > 0 ? 1 / $0.mean : nil } }

  private static func median(_ values: [Double]) -> Double? { (try? LatencyStatistics(values))?.median }
}

/// What configurations were compared in.
package struct ComparedQuestion: Sendable {
  package enum Subject: String, Sendable, Codable {
    /// Seconds from the start to the first answer.
    case start
    /// Seconds of one more inference.
    case warm
    /// Seconds for each frame that was answered.
    case served
    /// Seconds from a frame's arrival to its answer.
    case latency
  }
  package var subject: Subject
  package var finding: Finding
  /// The labels of those that were compared, in the finding's order.
  package var labels: [String]
}

/// A whole comparison.
package struct BenchmarkResult: Sendable {
  package var kelvinVersion: String
  /// When it was measured, in words.
  package var date: String
  package var machine: MachineDescription
  package var model: ReportModel
  package var workload: Workload
  /// Whose heat the stream had in place of this machine's; nil for its own.
  package var simulatedHeat: SimulatedHeat.Setup?
  package var devices: [ReportDevice]
  package var configurations: [ConfigurationResult]
  package var verdict: Verdict
  /// Against the verdict's best, in words, for each configuration.
  package var comparisons: [String]
  /// What was compared, for each question that the workload asks.
  package var questions: [ComparedQuestion]
  /// How it was measured, disturbances, what is missing.
  package var notes: [String]
  /// Where it was interrupted; nil where everything was measured.
  package var interruption: String?
  /// For each phase, the rounds that were disturbed by others.
  package var disturbedRounds: [BenchmarkSample.Phase: Set<Int>]
  /// Against an earlier run; nil where none was named.
  package var earlier: RunComparison?
  /// The same stream on a machine of another class; nil where none was asked for.
  package var simulation: StreamComparison?

  /// What an inference of a configuration takes over one of the best, which is worth keeping; nil for the best itself
  /// and where either is not known.
  package func relativeEnergy(of index: Int) -> (ratio: Double, reference: String)? {
    guard index != verdict.best, let own = configurations[index].sustained?.joulesPerInference,
      let best = configurations[verdict.best].sustained?.joulesPerInference, best > 0
    else { return nil }
    return (own / best, configurations[verdict.best].label)
  }

  /// Holds it against an earlier run.
  package mutating func compare(
    with run: EarlierRun, named name: String, threshold: Double
  ) throws(BenchmarkError) {
    earlier = try RunComparison(
      configurations.map { ($0.label, $0.figures) }, against: run, named: name, threshold: threshold)
  }

  /// The plan worth keeping.
  package var bestPlan: Plan { configurations[verdict.best].plan }
}
