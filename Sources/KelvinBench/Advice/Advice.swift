import KelvinBasics
import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinStreams
import KelvinThermal

/// The recommended configuration for each question, the cost of the alternatives, and the times, memory and energy of
/// each configuration. Times are in seconds, memory in bytes, energies in joules.
package struct Advice: Sendable {
  package typealias Question = AdviceRequest.Question

  /// A configuration: units, precision and threads. Values that were not measured are nil.
  package struct Row: Sendable {
    package var candidate: AdviceEvidence.Candidate
    /// Seconds from the start of a process to the first answer, with filled caches.
    package var firstAnswer: Double?
    /// Seconds from the start of a process to the first answer, with empty caches.
    package var coldAnswer: Double?
    /// The median seconds of one further inference.
    package var warm: Double?
    package var stream: ConfigurationResult.Sustained?
    package var throughput: ConfigurationResult.Sustained?
    /// The simulated run of the stream over the request's horizon, in virtual time.
    package var lasting: StreamRun?
    package var memory: MemoryUse?
    /// The energy of one inference above idle; nil when it is unknown or was not told from that of rest.
    package var joules: Double?
    /// Nil for estimates.
    package var measuredEnergy: InferenceEnergy?
    /// The energy divided by the least of all rows; nil where either is unknown.
    package var energyRatio: Double?
    package var agreement: ReportAgreement?
    /// The plan for several inferences in flight; nil where none was measured.
    package var throughputPlan: Plan?
    /// The reason for which the measurement was not completed; nil when it was.
    package var failure: String?

    package var label: String { candidate.label }
  }

  /// The configuration for one question.
  package struct Pick: Sendable, Hashable {
    package var question: Question
    package var row: Int
    /// Whether the pick is better than every other configuration: beyond noise, or according to the simulation for the
    /// sustained question.
    package var isClear: Bool
    /// The rows from which no difference was measured, without `row`.
    package var equals: [Int]
    /// The reason for which nothing was compared; nil when a comparison was made.
    package var refusal: String?
    /// The rule that decides in place of a comparison, in words; nil when a comparison decides.
    package var rule: String?
    /// The best other row, and its value of the deciding measure as a multiple of the pick's; nil where all are equal.
    package var next: (row: Int, ratio: Double)? {
      get { nextRow.map { ($0, nextRatio) } }
      set { (nextRow, nextRatio) = (newValue?.row, newValue?.ratio ?? 1) }
    }
    private var nextRow: Int?
    private var nextRatio = 1.0
    /// The answer in words, with its figures: `pick cpu, 1 thread: …`.
    package var answer = ""

    /// Whether measurements, and not a simulation, decide the pick.
    package var isBeyondNoise: Bool { isClear && question != .sustained }

    init(
      _ question: Question, row: Int, isClear: Bool, equals: [Int], next: (row: Int, ratio: Double)?,
      refusal: String? = nil, rule: String? = nil
    ) {
      self.rule = rule
      self.refusal = refusal
      self.question = question
      self.row = row
      self.isClear = isClear
      self.equals = equals
      self.next = next
    }
  }

  /// The point from which one configuration is better than another.
  package struct Crossover: Sendable, Hashable, Codable {
    package enum Measure: String, Sendable, Codable {
      /// Predictions since the start.
      case predictions
      /// Seconds of a stream.
      case seconds
    }
    package var overtaken: Int
    package var overtaking: Int
    package var measure: Measure
    package var at: Double
    /// The headroom of the overtaken configuration at that moment, where 1 is the limit; nil when heat is not the
    /// cause.
    package var headroom: Double?
    package var sentence: String
  }

  package var request: AdviceRequest
  package var rows: [Row]
  /// The picks in the order of the questions, without questions that could not be answered.
  package var picks: [Pick] = []
  package var crossovers: [Crossover] = []
  /// The simulation of the stream over the horizon; nil when it was not asked for or could not be run.
  package var lasting: StreamComparison?
  package var evidence: AdviceEvidence

  /// - Throws: `StreamError` for a stream that cannot be simulated.
  package init(_ request: AdviceRequest, _ evidence: AdviceEvidence) throws(StreamError) {
    self.request = request
    self.evidence = evidence
    rows = evidence.candidates.map { Row($0, evidence.results) }
    let least = rows.compactMap(\.joules).min() ?? 0
    for index in rows.indices where least > 0 { rows[index].energyRatio = rows[index].joules.map { $0 / least } }
    if request.questions.contains(.sustained) { try last() }
    picks = Question.allCases.filter { request.questions.contains($0) }.compactMap { pick(for: $0) }
    crossovers = predictionsToBreakEven + heatCrossovers
    for index in picks.indices { picks[index].answer = answer(picks[index]) }
  }

  /// The result of any part; the machine and the model are the same in all parts.
  package var anyResult: BenchmarkResult? {
    AdvicePart.allCases.compactMap { evidence.results[$0] }.first
  }

  /// The question and its answer.
  package func sentence(_ pick: Pick) -> String { "\(title(pick.question)): \(pick.answer)" }

  /// Returns the plan to run for the question of `pick`.
  package func plan(of pick: Pick) -> Plan {
    let row = rows[pick.row]
    return pick.question == .throughput ? row.throughputPlan ?? row.candidate.plan : row.candidate.plan
  }

  /// Simulates the stream over the horizon in virtual time, with the plans whose frames were timed.
  private mutating func last() throws(StreamError) {
    guard let result = evidence.results[.stream] else { return }
    let timed = rows.indices.filter { rows[$0].stream != nil }
    guard !timed.isEmpty else { return }
    let plans = timed.map { index in
      StreamPlan.carriedOver(
        label: rows[index].label, secondsPerFrame: max(rows[index].stream?.secondsPerFrame ?? 0, 1e-7),
        joules: rows[index].stream?.energy.atMost, source: rows[index].stream?.energySource ?? "",
        isMeasured: rows[index].stream?.isEnergyMeasured ?? false, on: result.machine, from: evidence.machine,
        to: request.envelope)
    }
    let comparison = try StreamComparison(
      StreamSimulation(
        envelope: request.envelope, plans: plans,
        stream: .init(framesPerSecond: request.framesPerSecond, duration: request.horizon)), governor: nil)
    for (run, index) in zip(comparison.runs, timed) { rows[index].lasting = run }
    lasting = comparison
  }
}

extension Advice.Row {
  init(_ candidate: AdviceEvidence.Candidate, _ results: [AdvicePart: BenchmarkResult]) {
    func own(_ part: AdvicePart) -> ConfigurationResult? {
      results[part]?.configurations.first { $0.label == candidate.label }
    }
    let (photo, stream, throughput) = (own(.photo), own(.stream), own(.throughput))
    let all = [photo, stream, throughput].compactMap { $0 }
    self.candidate = candidate
    firstAnswer = photo?.total
    coldAnswer = photo?.coldTotal
    warm = all.lazy.compactMap { $0.warm?.p50 }.first
    self.stream = stream?.sustained
    self.throughput = throughput?.sustained
    throughputPlan = throughput?.plan
    memory = all.lazy.compactMap(\.memory).first
    let energy = [stream?.sustained, throughput?.sustained].lazy.compactMap { $0 }.first {
      $0.energy.atMost != nil
    }
    joules = energy?.joulesPerInference
    measuredEnergy = energy?.measuredEnergy
    agreement = all.lazy.compactMap(\.agreement).first
    failure = all.lazy.compactMap(\.failure).first
  }
}
