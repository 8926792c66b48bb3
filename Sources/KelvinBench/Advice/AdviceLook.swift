import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// A first look at a configuration: the plan that it runs by, and roughly what it takes, so that what there is time to
/// measure can be told.
struct AdviceLook {
  /// With its plan, so that every question is about the same one.
  let configuration: BenchmarkConfiguration
  let explanation: PlanExplanation
  let trial: TriedPlans?
  /// Configurations that come to the same: the same plan with as many threads, in the same precision.
  var also: [String] = []
  /// Seconds of compiling and the first inference: at first, and with what that left in caches.
  var coldStart = 0.0
  var start = 0.0
  /// Seconds of one more inference.
  var seconds = 0.0

  var label: String { configuration.label }
  var estimate: AdviceSchedule.Estimate {
    .init(
      coldStart: coldStart, start: start, inference: seconds,
      roundoff: configuration.request.precision.unitRoundoff(.float32))
  }

  /// - Parameters:
  ///   - inputs: to try mixes with.
  ///   - budget: seconds for trying them.
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

  /// Whether nothing tells it from another but its name: the same plan with as many threads, and every node in the
  /// same precision.
  func comesToTheSame(as other: AdviceLook, _ context: ModelContext) throws(RuntimeError) -> Bool {
    let (placement, request) = (explanation.solution.placement, configuration.request)
    let asked = other.configuration.request
    guard placement == other.explanation.solution.placement, request.threads == asked.threads else { return false }
    return try context.node(tellingApart: request.precision, asked.precision, placement: placement) == nil
  }

  /// Compiles, and runs a few inferences.
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

  /// As the advice tells of it.
  func candidate(_ context: ModelContext) throws -> AdviceEvidence.Candidate {
    let placement = explanation.solution.placement
    return .init(
      label: label, also: also,
      devices: context.inventory.devices(named: context.nodesByDevice(placement).keys).map(\.info.id),
      threads: configuration.request.threads, precision: configuration.request.precision,
      plan: try context.plan(explanation, configuration.request))
  }

  private static let inferences = 5
  /// Seconds after which no further inference is begun.
  private static let longest = 1.0
}

extension ModelContext {
  /// Whether a candidate can only come to what another one came to, however it is planned: the same units and threads,
  /// and no device that tells the two precisions apart.
  func settles(_ candidate: BenchmarkConfiguration, by other: BenchmarkConfiguration) throws -> Bool {
    let (request, asked) = (candidate.request, other.request)
    guard candidate.plan == other.plan, request.units == asked.units, request.threads == asked.threads else {
      return false
    }
    let (units, helpers) = try planner.devices(for: request)
    return !tellsApart(request.precision, asked.precision, devices: units + helpers)
  }
}
