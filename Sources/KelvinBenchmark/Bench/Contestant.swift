import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

/// One configuration while it is measured.
final class Contestant {
  let configuration: BenchmarkConfiguration
  let explanation: PlanExplanation
  let trial: PlanTrial?
  let context: ModelContext
  private let isDeterministic: Bool
  private(set) var session: Session?

  var starts: [ConfigurationResult.Start] = []
  var compileUncached = 0.0
  /// Warm seconds, round by round.
  var warm: [[Double]] = []
  var slices: [FrameSlice] = []
  var heat: [ReportSeries.Heat] = []
  var thermalSource = ""
  var windows = 0
  var disturbedWindows = 0
  /// For each slice, whether somebody disturbed it.
  var joules: Double? = 0
  var energySource = ""
  var agreement: ReportAgreement?

  init(
    _ configuration: BenchmarkConfiguration, _ explanation: PlanExplanation, trial: PlanTrial?, _ context: ModelContext,
    isDeterministic: Bool
  ) {
    self.configuration = configuration
    self.explanation = explanation
    self.trial = trial
    self.context = context
    self.isDeterministic = isDeterministic
  }

  /// The devices that run nodes, in the machine's order.
  var devices: [DeviceInfo] {
    let used = Set(explanation.solution.placement.values)
    return context.inventory.devices.map(\.info).filter { used.contains($0.id) }
  }

  /// Compiles, and leaves a session that has not run.
  func compile() throws {
    session = nil
    session = try context.compile(
      explanation.solution, precision: configuration.request.precision, threads: configuration.request.threads,
      isDeterministic: isDeterministic
    ).makeSession()
  }

  /// Compiles with nothing cached and forgets the result.
  func compileAfresh() throws {
    let weights = MemoryPackedWeights()
    _ = try CompiledModel(
      context.graph, placement: explanation.solution.placement, transfers: explanation.solution.transfers,
      inventory: context.inventory, precision: configuration.request.precision,
      threads: configuration.request.threads, isDeterministic: isDeterministic,
      storage: { _ in (weights, NoBlobCache()) })
  }

  func answer(_ inputs: [Tensor]) throws -> [Tensor] { try ready.run(inputs) }

  func infer() throws(RuntimeError) { try ready.run() }

  /// One inference, measured inside.
  func trace(_ inputs: [Tensor]) throws -> [TraceEvent] {
    let measured = try ready.model.makeSession(measuresNodes: true)
    _ = try measured.run(inputs)
    try measured.run()
    return measured.trace().separatingWaits()
  }

  /// As this configuration keeps them.
  var weights: WeightReport { ready.model.weightReport }

  private var ready: Session {
    guard let session else { preconditionFailure("a configuration is compiled before it runs") }
    return session
  }
}
