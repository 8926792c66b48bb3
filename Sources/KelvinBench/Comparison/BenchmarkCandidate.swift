import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams

/// A configuration during its measurement.
final class BenchmarkCandidate {
  let configuration: BenchmarkConfiguration
  let explanation: PlanExplanation
  let trial: PlanTrial?
  let context: ModelContext
  /// The threads of the CPU device: fewer than requested when a part of the CPU is reserved.
  let threads: Int
  private let isDeterministic: Bool
  private let cancellation: Cancellation?
  private(set) var session: Session?

  /// The journal that keeps the measurements, and the configuration's index there.
  let journal: BenchmarkJournal
  let index: Int
  /// The measurements of this configuration so far.
  var record: BenchmarkRecord.Configuration { journal.record.configurations[index] }
  /// Whether the configuration has not failed.
  var isAble: Bool { record.failure == nil }
  var pipelined: PipelinedSessions?
  /// Seconds to idle after each second of inference.
  var rest = 0.0
  var governor: Governor?
  /// The model's token reader; nil for models that do not read tokens.
  var reader: (any TokenReader)?
  /// The plans of the governor's ladder. The first is the configuration's own, which the governor prefers. Empty
  /// without a ladder.
  var plans: [(label: String, session: Session)] = []
  /// The simulated heat that replaces the machine's sensors; nil when the machine itself is observed.
  var heat: SimulatedHeat?
  /// By plan, the power above idle in watts that the machine with simulated heat would draw while it works.
  var simulatedWatts: [String: Double] = [:]

  init(
    _ configuration: BenchmarkConfiguration, _ explanation: PlanExplanation, trial: PlanTrial?, _ context: ModelContext,
    threads: Int, isDeterministic: Bool, cancellation: Cancellation?, journal: BenchmarkJournal, index: Int
  ) {
    self.configuration = configuration
    self.explanation = explanation
    self.trial = trial
    self.context = context
    self.threads = threads
    self.isDeterministic = isDeterministic
    self.cancellation = cancellation
    self.journal = journal
    self.index = index
  }

  /// The devices that run nodes, in the machine's order.
  var devices: [DeviceInfo] {
    let placements = explanation.solution.mixture?.plans.map(\.placement) ?? [explanation.solution.placement]
    return context.inventory.devices(named: placements.flatMap { context.nodesByDevice($0).keys }.uniqued).map(\.info)
  }

  /// The resource that each device keeps busy, as the cost model defines it.
  var resources: [String: String] { context.costs.resources(of: devices) }

  /// By resource, the fraction of an inference in which the plan may keep it busy: all but the time of other resources'
  /// nodes.
  var busyShares: [String: Double] {
    let total = explanation.solution.predicted
    guard total > 0 else { return [:] }
    var seconds: [String: Double] = [:]
    for node in explanation.nodes {
      let device = explanation.solution.placement[node.node] ?? node.device
      let cost = node.candidates.first { $0.device == device }?.seconds ?? 0
      let resource = (try? context.inventory.device(device).info.resource) ?? device
      seconds[resource, default: 0] += cost
    }
    let sum = seconds.values.reduce(0, +)
    return seconds.mapValues { min(1, max(0, 1 - (sum - $0) / total)) }
  }

  /// Compiles, and keeps a session that has not run.
  @discardableResult
  func compile() throws(RuntimeError) -> Session {
    session = nil
    let made = try compiled(explanation.solution).makeSession()
    session = made
    return made
  }

  func compiled(_ solution: PlanSolution) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      solution, precision: configuration.request.precision, threads: threads, isDeterministic: isDeterministic,
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false }))
  }

  /// Compiles the plans between which inferences in flight alternate.
  func compiledMixture() throws(RuntimeError) -> CompiledMixture {
    guard explanation.solution.mixture != nil else { return CompiledMixture(ready.model) }
    return try context.compile(
      alternating: Placement.alternating(explanation.solution), precision: configuration.request.precision,
      threads: threads, isDeterministic: isDeterministic,
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false }))
  }

  /// Compiles another variant of a stream.
  func compiled(_ variant: StreamVariant) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      variant.solution, precision: variant.precision, threads: variant.threads, isDeterministic: isDeterministic,
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false }))
  }

  /// Compiles with empty caches and keeps nothing.
  func compileAfresh() throws(RuntimeError) -> Session {
    let weights = MemoryPackedWeights()
    return try CompiledModel(
      context.graph, placement: explanation.solution.placement, transfers: explanation.solution.transfers,
      streamed: Set(explanation.solution.streamed ?? []), inventory: context.inventory,
      precision: configuration.request.precision, threads: threads, isDeterministic: isDeterministic,
      storage: { _ in (weights, NoBlobCache()) },
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false })
    ).makeSession()
  }

  func answer(_ inputs: [Tensor]) throws(RuntimeError) -> [Tensor] { try ready.run(inputs, cancellation) }

  /// Writes the inputs again, because a run may reuse their memory.
  func writeInputs(_ inputs: [Tensor]) { Self.write(inputs, to: ready) }

  /// Runs one inference on the inputs written before.
  func infer() throws(RuntimeError) { try ready.run(cancellation) }

  /// Answers one frame with the plan that the governor selects, or with the configuration's own: writes inputs, waits
  /// for outputs.
  func answerFrame(_ inputs: [Tensor]) throws(RuntimeError) {
    let session = plans.isEmpty ? ready : plans[setting?.plan ?? 0].session
    Self.write(inputs, to: session)
    try session.run(cancellation)
  }

  static func write(_ inputs: [Tensor], to session: Session) {
    for (index, tensor) in inputs.enumerated() {
      tensor.bytes.withUnsafeBytes { raw in session.withInput(index) { $0.copyMemory(from: raw) } }
    }
  }

  /// Idles so that reserved shares of devices stay free after an inference of `seconds`.
  func idle(after seconds: Double, _ clock: any MeasurementClock) {
    if rest > 0 { clock.sleep(until: clock.now() + rest * seconds) }
  }

  /// The governor's current setting; nil without a governor.
  var setting: GovernorSetting? { governor?.setting }

  /// Returns the trace of one inference with each node measured.
  func trace(_ inputs: [Tensor]) throws -> [TraceEvent] {
    let measured = try ready.model.makeSession(measuresNodes: true)
    _ = try measured.run(inputs)
    try measured.run()
    return measured.trace().separatingWaits()
  }

  /// The report on the weights of this configuration; nil before compilation.
  var weights: WeightReport? { session?.model.weightReport }

  var model: CompiledModel? { session?.model }

  private var ready: Session {
    guard let session else { preconditionFailure("a configuration is compiled before it runs") }
    return session
  }
}
