package import FoundationEssentials
import KelvinBasics
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkResult {
  /// The document that `kelvin bench --json` prints. Times are in seconds, memory in bytes, energies in joules.
  package func json() throws -> Data { try JSONText.encode(BenchmarkDocument(self), unspeakable: .null) }
}

private struct BenchmarkDocument: Encodable {
  struct Warm: Encodable {
    var p50: Double
    var p90: Double
    var p99: Double
    var minimum: Double
    var samples: Int
    var interval: ConfidenceInterval
    var earlyStopping: EarlyStopping?
  }

  struct Window: Encodable {
    var p50: Double
    var p90: Double
    var p99: Double
    var samples: Int

    init(_ statistics: LatencyStatistics) {
      (p50, p90, p99, samples) = (statistics.p50, statistics.p90, statistics.p99, statistics.count)
    }
  }

  struct Thermal: Encodable {
    struct Point: Encodable {
      var at: Double
      var state: String
      var headroom: Double?
    }
    var state: String?
    var source: String
    var samples: [Point]
  }

  struct Decay: Encodable {
    var finding: String
    var initial: Double?
    var settled: Double?
    var timeConstant: Double?
    var stability: Double?
    var stabilityInterval: ConfidenceInterval
    var hasSettled: Bool
  }

  struct Energy: Encodable {
    /// Nil when no sensor measured power.
    var joulesPerInference: Double?
    /// The energy divided by that of the configuration `relativeTo`.
    var ratio: Double?
    var relativeTo: String?
    var isMeasured: Bool
    var source: String
  }

  struct Tried: Encodable {
    struct Entry: Encodable {
      var plan: String
      var predicted: Double
      var p50: Double
      var samples: Int
    }
    var chosen: String
    var reason: String
    var plans: [Entry]
  }

  struct Agreement: Encodable {
    var top1: Double?
    var largestDifference: Double?
    var meanDifference: Double?
    var inputs: Int
  }

  struct Configuration: Encodable {
    var units: String
    var devices: [String]
    var threads: Int
    var launch: Double?
    var load: Double?
    var compile: Double?
    var compileUncached: Double?
    /// Seconds from the start of the process to the first answer.
    var first: Double?
    /// The part of `first` that is the first inference.
    var firstInference: Double?
    var total: Double?
    var coldTotal: Double?
    var coldStarts: [ConfigurationResult.Start]
    var starts: [ConfigurationResult.Start]
    var p50: Double?
    var p90: Double?
    var p99: Double?
    var samples: Int
    var warm: Warm?
    var throughput: Double?
    var drift: Double?
    var tokens: TokenFigures?
    var served: Int?
    var dropped: Int
    var skipped: Int?
    var pipeline: ConfigurationResult.Pipeline?
    var actions: [GovernorAction]?
    /// The governor's settings, from the preferred one down.
    var ladder: StreamLadder?
    /// The number of frames that each plan of the ladder answered, by label.
    var answers: [ConfigurationResult.PlanAnswers]?
    var firstWindow: Window?
    var lastWindow: Window?
    var decay: Decay?
    var thermal: Thermal
    var energy: Energy?
    var contention: ContentionSummary
    var windows: Int
    var disturbedWindows: Int
    var agreement: Agreement?
    var agreementRemark: String?
    var predicted: Double
    var placement: [String: Int]
    var trial: Tried?
    var weights: WeightReport?
    var comparison: String
    var figures: [Figure]
    /// The reason for which the measurement was not completed.
    var failure: String?
  }

  /// The comparison of one configuration with the best one in one question. `ratio` is its seconds divided by the
  /// best's.
  struct Comparison: Encodable {
    var question: ComparedQuestion.Subject
    var candidate: String
    var baseline: String
    var ratio: Double
    var interval: ConfidenceInterval
    var pairs: Int
    var verdict: PairedComparison.Verdict
    /// The relative difference that would be detected in 8 of 10 runs.
    var detectable: Double
  }

  var machine: MachineDescription
  var kelvinVersion: String
  var model: ReportModel
  var workload: Workload
  /// The machine whose heat was simulated; absent when the machine itself was observed.
  var simulatedHeat: SimulatedHeat.Setup?
  var configurations: [Configuration]
  var comparisons: [Comparison]
  var verdict: String
  var sentences: [String]
  /// `null` where no difference was measured.
  var winner: String?
  var notes: [String]
  /// The comparison with an earlier run; absent when none was named.
  var earlier: RunComparison?
  var simulation: SimulationDocument?
  /// The point at which the user interrupted; absent when everything was measured.
  var interruption: String?
  var isPartial: Bool
  /// The plan that the verdict chose; `--plan` accepts this document.
  var plan: Plan

  enum CodingKeys: String, CodingKey {
    case earlier, machine, kelvinVersion, model, workload, configurations, comparisons, verdict, sentences, winner,
      notes,
      interruption, plan,
      simulation, simulatedHeat
    case isPartial = "partial"
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(machine, forKey: .machine)
    try fields.encode(kelvinVersion, forKey: .kelvinVersion)
    try fields.encode(model, forKey: .model)
    try fields.encode(workload, forKey: .workload)
    try fields.encodeIfPresent(simulatedHeat, forKey: .simulatedHeat)
    try fields.encode(configurations, forKey: .configurations)
    try fields.encode(comparisons, forKey: .comparisons)
    try fields.encode(verdict, forKey: .verdict)
    try fields.encode(sentences, forKey: .sentences)
    try fields.encode(winner, forKey: .winner)
    try fields.encode(notes, forKey: .notes)
    try fields.encodeIfPresent(earlier, forKey: .earlier)
    try fields.encodeIfPresent(simulation, forKey: .simulation)
    try fields.encodeIfPresent(interruption, forKey: .interruption)
    try fields.encode(isPartial, forKey: .isPartial)
    try fields.encode(plan, forKey: .plan)
  }

  init(_ result: BenchmarkResult) {
    machine = result.machine
    kelvinVersion = result.kelvinVersion
    model = result.model
    workload = result.workload
    simulatedHeat = result.simulatedHeat
    configurations = result.configurations.indices.map {
      Self.configuration(
        result.configurations[$0], result.comparisons[$0], energy: result.relativeEnergy(of: $0))
    }
    comparisons = result.questions.flatMap(Self.comparisons)
    verdict = result.verdict.text
    sentences = result.verdict.sentences
    winner = result.verdict.winner.map { result.configurations[$0].label }
    notes = result.notes
    earlier = result.earlier
    simulation = result.simulation.map { SimulationDocument($0) }
    interruption = result.interruption
    isPartial = result.interruption != nil
    plan = result.bestPlan
  }

  private static func comparisons(_ question: ComparedQuestion) -> [Comparison] {
    let finding = question.finding
    return finding.comparisons.indices.compactMap { index in
      finding.comparisons[index].map { comparison in
        // As in the verdict, a difference below the smallest relevant one does not count.
        let isEqual = finding.tied.contains(index) && comparison.verdict != .notCompared
        return Comparison(
          question: question.subject, candidate: question.labels[index], baseline: question.labels[finding.best],
          ratio: comparison.ratio, interval: comparison.interval, pairs: comparison.pairs,
          verdict: isEqual ? .noDifferenceMeasured : comparison.verdict,
          detectable: comparison.detectable(smallest: Finding.smallestDifference))
      }
    }
  }

  private static func configuration(
    _ result: ConfigurationResult, _ comparison: String, energy: (ratio: Double, reference: String)?
  ) -> Configuration {
    let latency = result.latency
    let warm = result.warm
    let sustained = result.sustained
    return Configuration(
      units: result.label, devices: result.devices, threads: result.threads, launch: result.launch, load: result.load,
      compile: result.compile, compileUncached: result.compileUncached, first: result.total,
      firstInference: result.first, total: result.total,
      coldTotal: result.coldTotal, coldStarts: result.coldStarts, starts: result.starts, p50: latency?.p50,
      p90: latency?.p90, p99: latency?.p99, samples: latency?.count ?? 0,
      warm: warm.map { warm in
        Warm(
          p50: warm.p50, p90: warm.p90, p99: warm.p99, minimum: warm.minimum, samples: warm.count,
          interval: warm.medianInterval, earlyStopping: result.earlyStopping)
      }, throughput: result.throughput?.finite, drift: (sustained?.drift ?? result.warmDrift)?.finite,
      tokens: result.tokens, served: sustained?.served, dropped: sustained?.dropped ?? 0, skipped: sustained?.skipped,
      pipeline: sustained?.pipeline, actions: sustained.flatMap { $0.actions.isEmpty ? nil : $0.actions },
      ladder: sustained?.ladder, answers: sustained.flatMap { $0.answers.isEmpty ? nil : $0.answers },
      firstWindow: sustained?.first.map { Window($0) }, lastWindow: sustained?.last.map { Window($0) },
      decay: sustained?.fit.map { fit in
        Decay(
          finding: fit.finding.rawValue, initial: fit.initial.finite, settled: fit.settled.finite,
          timeConstant: fit.timeConstant.finite, stability: fit.stability.finite,
          stabilityInterval: fit.stabilityInterval, hasSettled: fit.hasSettled)
      },
      thermal: Thermal(
        state: result.thermal?.name, source: result.thermalSource,
        samples: (sustained?.heat ?? []).map { .init(at: $0.at, state: $0.state.name, headroom: $0.headroom.finite) }),
      energy: sustained.map {
        Energy(
          joulesPerInference: $0.measuredJoules, ratio: energy?.ratio, relativeTo: energy?.reference,
          isMeasured: $0.isEnergyMeasured, source: $0.energySource)
      },
      contention: result.contention, windows: result.windows, disturbedWindows: result.disturbedWindows,
      agreement: result.agreement.map {
        Agreement(
          top1: $0.top1, largestDifference: $0.largestDifference.finite, meanDifference: $0.meanDifference.finite,
          inputs: $0.inputs)
      },
      agreementRemark: result.agreementRemark.isEmpty ? nil : result.agreementRemark,
      predicted: result.solution.predicted,
      placement: Dictionary(
        result.plan.nodes.filter { $0.turns == nil }.map { ($0.device, 1) }, uniquingKeysWith: +),
      trial: result.trial.map { trial in
        Tried(
          chosen: trial.entries[trial.chosen].label, reason: trial.reason,
          plans: trial.entries.map {
            .init(plan: $0.label, predicted: $0.predicted, p50: $0.seconds, samples: $0.samples)
          })
      }, weights: result.weights, comparison: comparison, figures: result.figures, failure: result.failure)
  }
}
