import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams

/// One configuration while it is measured.
final class BenchmarkCandidate {
  let configuration: BenchmarkConfiguration
  let explanation: PlanExplanation
  let trial: PlanTrial?
  let context: ModelContext
  /// Of the CPU device: fewer than asked for where a part of the CPU is reserved.
  let threads: Int
  private let isDeterministic: Bool
  private let cancellation: Cancellation?
  private(set) var session: Session?

  /// Where what is measured of it is kept, and its place there.
  let journal: BenchmarkJournal
  let index: Int
  /// What is known of it so far.
  var record: BenchmarkRecord.Configuration { journal.record.configurations[index] }
  /// Whether it still takes part.
  var isAble: Bool { record.failure == nil }
  var pipelined: PipelinedSessions?
  /// Seconds to idle after each second of inferences.
  var rest = 0.0
  var governor: Governor?
  /// The model as it reads tokens; nil where it does not.
  var reader: (any TokenReader)?
  /// The plans of the governor's ladder; the preferred one, this configuration's own, is first. Empty without a ladder.
  var plans: [(label: String, session: Session)] = []
  /// In place of this machine's; nil where that is watched.
  var heat: SimulatedHeat?
  /// By plan, what it would draw above idle on the machine whose heat is simulated, while it works.
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
    context.inventory.devices(named: context.nodesByDevice(explanation.solution.placement).keys).map(\.info)
  }

  /// What each of the devices keeps busy, as plans see it.
  var resources: [String: String] { context.costs.resources(of: devices) }

  /// By resource, the part of an inference in which the plan may keep it busy: all but the nodes of other resources.
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

  /// Compiles another way to answer a stream.
  func compiled(_ variant: StreamVariant) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      variant.solution, precision: variant.precision, threads: variant.threads, isDeterministic: isDeterministic,
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false }))
  }

  /// Compiles with nothing cached, without keeping anything.
  func compileAfresh() throws(RuntimeError) -> Session {
    let weights = MemoryPackedWeights()
    return try CompiledModel(
      context.graph, placement: explanation.solution.placement, transfers: explanation.solution.transfers,
      inventory: context.inventory, precision: configuration.request.precision, threads: threads,
      isDeterministic: isDeterministic, storage: { _ in (weights, NoBlobCache()) },
      observer: .init(isCancelled: { [cancellation] in cancellation?.isCancelled ?? false })
    ).makeSession()
  }

  func answer(_ inputs: [Tensor]) throws(RuntimeError) -> [Tensor] { try ready.run(inputs, cancellation) }

  /// Writes the inputs, whose memory a run may have used for something else.
  func writeInputs(_ inputs: [Tensor]) { Self.write(inputs, to: ready) }

  /// One inference on the inputs written before.
  func infer() throws(RuntimeError) { try ready.run(cancellation) }

  /// One frame by the plan that the governor wants, or the configuration's own: inputs written, outputs ready.
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

  /// Idles so that reserved parts of devices stay free after an inference that took `seconds`.
  func idle(after seconds: Double, _ clock: any MeasurementClock) {
    if rest > 0 { clock.sleep(until: clock.now() + rest * seconds) }
  }

  /// How the governor wants frames answered at the moment; nil without one.
  var setting: GovernorSetting? { governor?.setting }

  /// One inference, measured inside.
  func trace(_ inputs: [Tensor]) throws -> [TraceEvent] {
    let measured = try ready.model.makeSession(measuresNodes: true)
    _ = try measured.run(inputs)
    try measured.run()
    return measured.trace().separatingWaits()
  }

  /// As this configuration keeps them; nil before it was compiled.
  var weights: WeightReport? { session?.model.weightReport }

  var model: CompiledModel? { session?.model }

  private var ready: Session {
    guard let session else { preconditionFailure("a configuration is compiled before it runs") }
    return session
  }
}
