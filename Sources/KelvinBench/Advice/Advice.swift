import KelvinBasics
import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
package import KelvinStreams
import KelvinThermal

/// Which configuration to pick for each of the things that a model is wanted for, what the others would cost, and what
/// each of them takes. Seconds, bytes, joules.
package struct Advice: Sendable {
  package typealias Question = AdviceRequest.Question

  /// A configuration: units, precision and threads. What was not measured is nil.
  package struct Row: Sendable {
    package var candidate: AdviceEvidence.Candidate
    /// From the start of a process, with caches, to the first answer.
    package var firstAnswer: Double?
    /// With nothing cached.
    package var coldAnswer: Double?
    /// Median of one further inference.
    package var warm: Double?
    package var stream: ConfigurationResult.Sustained?
    package var throughput: ConfigurationResult.Sustained?
    /// The stream for as long as it has to last, in virtual time.
    package var lasting: StreamRun?
    package var memory: MemoryUse?
    /// Above idle, of one inference.
    package var joules: Double?
    package var isEnergyMeasured = false
    /// Over the least of all rows; nil where one of the two is not known.
    package var energyRatio: Double?
    package var agreement: ReportAgreement?
    /// The plan for several inferences in flight; nil where that was not measured.
    package var throughputPlan: Plan?
    /// Why it was not measured to the end; nil where it was.
    package var failure: String?

    package var label: String { candidate.label }
  }

  /// The configuration for one question.
  package struct Pick: Sendable, Hashable {
    package var question: Question
    package var row: Int
    /// Whether it is better than every other: beyond noise, or by the model where that answers.
    package var isClear: Bool
    /// Those from which no difference was measured, without `row`.
    package var equals: [Int]
    /// Why nothing was compared; nil where it was.
    package var refusal: String?
    /// The best of the others, and how many times as much of what decides it takes; nil where all are equal.
    package var next: (row: Int, ratio: Double)? {
      get { nextRow.map { ($0, nextRatio) } }
      set { (nextRow, nextRatio) = (newValue?.row, newValue?.ratio ?? 1) }
    }
    private var nextRow: Int?
    private var nextRatio = 1.0
    /// In words, with the numbers that it rests on: `pick cpu, 1 thread: …`.
    package var answer = ""

    /// Whether measurements say so, and not a model.
    package var isBeyondNoise: Bool { isClear && question != .sustained }

    init(
      _ question: Question, row: Int, isClear: Bool, equals: [Int], next: (row: Int, ratio: Double)?,
      refusal: String? = nil
    ) {
      self.refusal = refusal
      self.question = question
      self.row = row
      self.isClear = isClear
      self.equals = equals
      self.next = next
    }
  }

  /// Where one configuration overtakes another.
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
    /// Of the overtaken one at that moment, 1 is the limit; nil where heat has no part in it.
    package var headroom: Double?
    package var sentence: String
  }

  package var request: AdviceRequest
  package var rows: [Row]
  /// In the order of the questions; without those that could not be answered.
  package var picks: [Pick] = []
  package var crossovers: [Crossover] = []
  /// The stream for as long as it has to last; nil where that was not asked or could not be told.
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

  /// What some part measured; all parts tell the same of the machine and the model.
  package var anyResult: BenchmarkResult? {
    AdvicePart.allCases.compactMap { evidence.results[$0] }.first
  }

  /// The question and its answer.
  package func sentence(_ pick: Pick) -> String { "\(title(pick.question)): \(pick.answer)" }

  /// The plan to run by for what was asked.
  package func plan(of pick: Pick) -> Plan {
    let row = rows[pick.row]
    return pick.question == .throughput ? row.throughputPlan ?? row.candidate.plan : row.candidate.plan
  }

  /// Runs the stream in virtual time, for as long as it has to last, with the plans whose frames were timed here.
  private mutating func last() throws(StreamError) {
    guard let result = evidence.results[.stream] else { return }
    let timed = rows.indices.filter { rows[$0].stream != nil }
    guard !timed.isEmpty else { return }
    let plans = timed.map { index in
      StreamPlan.carriedOver(
        label: rows[index].label, secondsPerFrame: max(rows[index].stream?.secondsPerFrame ?? 0, 1e-7),
        joules: rows[index].stream?.joulesPerInference, source: rows[index].stream?.energySource ?? "",
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
      $0.joulesPerInference != nil
    }
    joules = energy?.joulesPerInference
    isEnergyMeasured = energy?.isEnergyMeasured ?? false
    agreement = all.lazy.compactMap(\.agreement).first
    failure = all.lazy.compactMap(\.failure).first
  }
}
