package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
package import KelvinStreams
package import KelvinThermal

/// All measurements of one configuration. Times are in seconds.
package struct ConfigurationResult: Sendable {
  /// The times of one complete start.
  package struct Start: Sendable, Hashable, Codable {
    /// From the start of a process until its devices are open; 0 for starts within this process.
    package var launch: Double
    /// Reading the model and adopting the plan.
    package var load: Double
    package var compile: Double
    /// The first inference.
    package var first: Double
    /// From the beginning to the first answer; at least the sum of the others.
    package var total: Double
    /// The memory of the process after its answer; nil for starts within this process.
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

  /// The choice of the number of inferences in flight.
  package struct Pipeline: Sendable, Hashable, Codable {
    package struct Attempt: Sendable, Hashable, Codable {
      package var inFlight: Int
      /// Answers per second.
      package var rate: Double
    }
    package var inFlight: Int
    /// The numbers in flight that were tried; empty when the workload gives the number.
    package var attempts: [Attempt]
    /// The plan's prediction of the busiest resource and of its seconds for each frame.
    package var bottleneck: Bottleneck?
    /// The shares of the plans between which inferences alternate, by falling share; nil for one plan.
    package var shares: [Double]?
  }

  /// The frames that one plan of a governor's ladder answered.
  package struct PlanAnswers: Sendable, Hashable, Codable {
    package var label: String
    package var frames: Int
    /// The median seconds from a frame's start to its answer.
    package var seconds: Double
  }

  /// The measurements of a sustained load.
  package struct Sustained: Sendable {
    /// Seconds from arrival to answer.
    package var latency: LatencyStatistics
    /// The latencies of the first and of the last slice; nil for fewer than two slices.
    package var first: LatencyStatistics?
    package var last: LatencyStatistics?
    /// Answers per second.
    package var throughput: Double
    /// The throughput of the last third divided by that of the first third; 1 is steady.
    package var drift: Double?
    /// The seconds of an answer that reading its frame took, conversion included; nil for a stream of one input.
    package var reading: LatencyStatistics?
    package var served: Int
    package var dropped: Int
    /// Frames that the governor skipped.
    package var skipped: Int
    package var fit: DecayFit?
    /// Latencies over the configuration's own time.
    package var points: [ReportSeries.Point]
    package var heat: [ReportSeries.Heat]
    package var energy: InferenceEnergy
    package var energySource: String
    /// Whether every part of the energy was read from a counter.
    package var isEnergyMeasured: Bool
    /// The joules of one inference to compare configurations with; nil when they are unknown or not told from rest.
    package var joulesPerInference: Double? { energy.joules }
    /// The measured energy of one inference; nil for estimates, which only serve to compare configurations.
    package var measuredEnergy: InferenceEnergy? { isEnergyMeasured ? energy : nil }
    /// The seconds of one frame at the stream's rate: the median latency, limited by the reciprocal of the throughput
    /// when frames wait for each other.
    package var secondsPerFrame: Double { min(latency.p50, 1 / max(throughput, 1e-9)) }
    package var pipeline: Pipeline?
    /// The actions of the governor, in the configuration's own time.
    package var actions: [GovernorAction]
    /// The governor's ladder; nil when none was prepared.
    package var ladder: StreamLadder?
    /// The answers of each plan of the ladder, in its order.
    package var answers: [PlanAnswers]
    /// The measured seconds.
    package var duration: Double
  }

  package var label: String
  /// The planner's solution behind the plan.
  package var solution: PlanSolution
  package var plan: Plan
  package var trial: TriedPlans?
  package var devices: [String]
  /// The threads of the CPU device.
  package var threads: Int
  /// Starts with empty caches.
  package var coldStarts: [Start]
  /// Starts with the caches of an earlier start.
  package var starts: [Start]
  /// The warm latencies; nil when none were measured.
  package var warm: LatencyStatistics?
  /// The warm 90th percentile that MLPerf's rules allow to claim; nil when nothing was measured.
  package var earlyStopping: EarlyStopping?
  /// The throughput of the last third of the warm inferences divided by that of the first; nil when there are too few.
  package var warmDrift: Double?
  package var weights: WeightReport?
  package var sustained: Sustained?
  /// Nil when no tokens were generated.
  package var tokens: TokenFigures?
  /// The hottest state during the measurement. `thermalSource` names its source.
  package var thermal: ThermalState?
  package var thermalSource: String
  package var contention: ContentionSummary
  package var agreement: ReportAgreement?
  /// The reason for which there is no agreement.
  package var agreementRemark: String
  /// The events of one inference.
  package var trace: [TraceEvent]
  /// All samples, in order.
  package var samples: [BenchmarkSample]
  /// The values to compare with another run.
  package var figures: [Figure]
  /// The reason for which the measurement was not completed; nil when it was.
  package var failure: String?

  /// Nearest-rank medians of the starts with filled caches; nil when there were none.
  package var launch: Double? { Self.median(starts.map(\.launch)) }
  package var load: Double? { Self.median(starts.map(\.load)) }
  package var compile: Double? { Self.median(starts.map(\.compile)) }
  package var first: Double? { Self.median(starts.map(\.first)) }
  package var total: Double? { Self.median(starts.map(\.total)) }
  /// The most memory of a start with filled caches; nil when none was made in its own process.
  package var memory: MemoryUse? {
    starts.compactMap(\.memory).reduce(nil) { most, next in most.map { $0.union(next) } ?? next }
  }
  /// Medians of the cold starts.
  package var compileUncached: Double? { Self.median(coldStarts.map(\.compile)) }
  package var coldTotal: Double? { Self.median(coldStarts.map(\.total)) }

  /// The number of observed time windows, and of those in which other processes took processor time.
  package var windows: Int { contention.windows }
  package var disturbedWindows: Int { contention.disturbed }

  /// The latencies that the workload measures; nil when there are none.
  package var latency: LatencyStatistics? { sustained?.latency ?? warm }
  /// Answers per second under the workload; nil when nothing was measured.
  package var throughput: Double? { sustained?.throughput ?? warm.flatMap { $0.mean > 0 ? 1 / $0.mean : nil } }

  private static func median(_ values: [Double]) -> Double? { (try? LatencyStatistics(values))?.median }
}

/// A question in which configurations were compared.
package struct ComparedQuestion: Sendable {
  package enum Subject: String, Sendable, Codable {
    /// Seconds from the start to the first answer.
    case start
    /// Seconds of one further inference.
    case warm
    /// Seconds per answered frame.
    case served
    /// Seconds from a frame's arrival to its answer.
    case latency
  }
  package var subject: Subject
  package var finding: Finding
  /// The labels of the compared configurations, in the finding's order.
  package var labels: [String]
}

/// The result of a benchmark.
package struct BenchmarkResult: Sendable {
  package var kelvinVersion: String
  /// The date and time of the benchmark as a string.
  package var date: String
  package var machine: MachineDescription
  package var model: ReportModel
  package var workload: Workload
  /// The machine whose heat was simulated; nil when this machine was observed.
  package var simulatedHeat: SimulatedHeat.Setup?
  package var devices: [ReportDevice]
  package var configurations: [ConfigurationResult]
  package var verdict: Verdict
  /// For each configuration, the comparison with the verdict's best in words.
  package var comparisons: [String]
  /// The comparisons, one for each question of the workload.
  package var questions: [ComparedQuestion]
  /// How the result was measured, disturbances and missing measurements.
  package var notes: [String]
  /// The point at which the user interrupted; nil when everything was measured.
  package var interruption: String?
  /// For each phase, the rounds that others disturbed.
  package var disturbedRounds: [BenchmarkSample.Phase: Set<Int>]
  /// The comparison with an earlier run; nil when none was named.
  package var earlier: RunComparison?
  /// The same stream simulated on a machine of another class; nil when none was asked for.
  package var simulation: StreamComparison?

  /// The energy of an inference as a multiple of the verdict's best configuration; nil for the best itself and when
  /// either is unknown.
  package func relativeEnergy(of index: Int) -> (ratio: Double, reference: String)? {
    guard index != verdict.best, let own = configurations[index].sustained?.joulesPerInference,
      let best = configurations[verdict.best].sustained?.joulesPerInference, best > 0
    else { return nil }
    return (own / best, configurations[verdict.best].label)
  }

  /// Compares this result with an earlier run.
  package mutating func compare(
    with run: EarlierRun, named name: String, threshold: Double
  ) throws(BenchmarkError) {
    earlier = try RunComparison(
      configurations.map { ($0.label, $0.figures) }, against: run, named: name, threshold: threshold)
  }

  /// The plan of the verdict's best configuration.
  package var bestPlan: Plan { configurations[verdict.best].plan }
}
