import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// A preliminary measurement of a configuration: its plan and approximate times, from which the schedule of the
/// benchmark follows.
struct CandidateProbe {
  /// The configuration with its plan set, so that every question is answered with the same plan.
  let configuration: BenchmarkConfiguration
  let explanation: PlanExplanation
  let trial: TriedPlans?
  /// The labels of configurations equal to this one: same plan, same threads, same precision of every node.
  var equivalentLabels: [String] = []
  /// The label of the probe with the same plan for one inference at a time; nil if there is none.
  var twin: String?
  /// Seconds of compilation and the first inference, with empty caches (`coldStart`) and with filled caches (`start`).
  var coldStart = 0.0
  var start = 0.0
  /// Seconds of one further inference.
  var seconds = 0.0

  var label: String { configuration.label }
  var estimate: AdviceSchedule.Estimate {
    .init(
      coldStart: coldStart, start: start, inference: seconds,
      roundoff: configuration.request.precision.unitRoundoff(.float32))
  }

  /// - Parameters:
  ///   - inputs: the inputs to try plans with that mix devices.
  ///   - budget: the most seconds for these trials.
  init(
    _ candidate: BenchmarkConfiguration, _ context: ModelContext, inputs: [Tensor]?, budget: Double,
    clock: any MeasurementClock
  ) throws {
    let choice = try PlanChoice(
      candidate, context, .idle, inputs: inputs, budget: min(budget, PlanTrial.usualBudget), clock: clock)
    var configuration = candidate
    if configuration.plan == nil { configuration.plan = try context.plan(choice.explanation, candidate.request) }
    self.configuration = configuration
    explanation = choice.explanation
    trial = choice.trial?.record
  }

  /// Whether the other configuration differs in name only: same placement, same threads, and the same precision of
  /// every node.
  func isEquivalent(as other: CandidateProbe, _ context: ModelContext) throws(RuntimeError) -> Bool {
    let (placement, request) = (explanation.solution.placement, configuration.request)
    let asked = other.configuration.request
    guard placement == other.explanation.solution.placement, request.threads == asked.threads else { return false }
    return try context.node(tellingApart: request.precision, asked.precision, placement: placement) == nil
  }

  /// Compiles and runs a few inferences.
  mutating func run(
    _ context: ModelContext, _ inputs: [Tensor], isDeterministic: Bool, clock: any MeasurementClock,
    _ cancellation: Cancellation?
  ) throws(RuntimeError) {
    func begin() throws(RuntimeError) -> Session {
      let session = try context.compile(
        explanation.solution, precision: configuration.request.precision, threads: configuration.request.threads,
        isDeterministic: isDeterministic
      ).makeSession()
      _ = try session.run(inputs, cancellation)
      return session
    }
    coldStart = try clock.time { () throws(RuntimeError) in _ = try begin() }
    let began = clock.now()
    let session = try begin()
    start = clock.now() - began
    var latencies: [Double] = []
    while latencies.count < Self.inferences, latencies.isEmpty || latencies.reduce(0, +) < Self.longest {
      BenchmarkCandidate.write(inputs, to: session)
      latencies.append(try clock.time { () throws(RuntimeError) in try session.run(cancellation) })
    }
    seconds = latencies.min() ?? 0
  }

  /// Returns the candidate as an advice describes it.
  func candidate(_ context: ModelContext) throws -> AdviceEvidence.Candidate {
    let placement = explanation.solution.placement
    return .init(
      label: label, equivalentLabels: equivalentLabels, twin: twin,
      devices: context.inventory.devices(named: context.nodesByDevice(placement).keys).map(\.info.id),
      threads: configuration.request.threads, precision: configuration.request.precision,
      plan: try context.plan(explanation, configuration.request))
  }

  private static let inferences = 5
  /// Seconds after which no further inference is begun.
  private static let longest = 1.0
}

extension ModelContext {
  /// Whether `candidate` leads to the same plan as `other` without planning it: same units and threads, and no device
  /// distinguishes the two precisions.
  func settles(_ candidate: BenchmarkConfiguration, by other: BenchmarkConfiguration) throws -> Bool {
    let (request, asked) = (candidate.request, other.request)
    guard candidate.plan == other.plan, request.units == asked.units, request.threads == asked.threads else {
      return false
    }
    let (units, helpers) = try planner.devices(for: request)
    return !tellsApart(request.precision, asked.precision, devices: units + helpers)
  }
}
