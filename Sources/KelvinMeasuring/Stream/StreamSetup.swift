import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinMeasurements
import KelvinRuntime
import KelvinStreams
import KelvinThermal
import Synchronization

/// The predictors of a stream, one for each plan of its ladder, and the governor that selects among them.
struct StreamSetup: Sendable {
  let labels: [String]
  /// The predictors, by plan of the ladder.
  let predictors: [Predictor]
  let setting: GovernorSetting
  let settings: [String]
  /// The governor's state; nil for a stream without a governor.
  let run: GovernedRun?

  /// - Throws: `ModelError` as `FrameStream.init` does.
  init(_ model: Model, _ options: FrameStream.Options, _ cancellation: Cancellation?) throws(ModelError) {
    func require(_ holds: Bool, _ reason: @autoclosure () -> String) throws(ModelError) {
      guard holds else { throw ModelError(.parameters, "a stream: \(reason())", fault: .request) }
    }
    try require(options.queue >= 1, "queue: expected at least 1 waiting frame, got \(options.queue)")
    try require(options.buffer >= 1, "buffer: expected at least 1 kept answer, got \(options.buffer)")
    try require(
      options.deadline.map { $0 > .zero } ?? true,
      "deadline: expected a time above 0, got \(options.deadline ?? .zero)")
    try require(
      options.framesPerSecond.map { $0 > 0 && $0.isFinite } ?? true,
      "framesPerSecond: expected above 0, got \(options.framesPerSecond ?? 0)")
    if let state = model.predictor.states.keys.min() {
      throw ModelError(.parameters, "the model has the state '\(state)', which the frames of a stream cannot share")
    }
    guard options.isGoverned else {
      labels = ["as planned"]
      predictors = [model.predictor]
      setting = GovernorSetting(queue: options.queue)
      settings = labels
      run = nil
      return
    }
    (labels, predictors, settings, run) = try ModelError.measuring {
      try Self.governed(model, options, cancellation)
    }
    setting = GovernorSetting(queue: options.queue)
  }

  private static func governed(
    _ model: Model, _ options: FrameStream.Options, _ cancellation: Cancellation?
  ) throws -> (labels: [String], predictors: [Predictor], settings: [String], run: GovernedRun) {
    let envelope = try ThermalEnvelope(choosing: options.thermalEnvelope)
    let loaded = model.loaded
    let request = loaded.options.request
    let clock = SystemClock()
    var ways = try loaded.context.streamVariants(
      try loaded.shown.proven().explanation, precision: request.precision, threads: request.threads)
    // Other plans and thread counts can round differently. With several graphs, only one of them would change.
    if loaded.options.isDeterministic || loaded.graphs.count != 1 { ways = [ways[0]] }
    let trial = try StreamTrial(
      ways, in: loaded.context, inputs: try loaded.syntheticTensors(for: loaded.shown, seed: 0),
      framesPerSecond: options.framesPerSecond, cores: MachineDescription(SystemFiles()).logicalCores,
      on: envelope, clock: clock, cancellation: cancellation,
      compile: { way in
        try loaded.context.compile(
          way.solution, precision: way.precision, threads: way.threads, isDeterministic: loaded.options.isDeterministic,
          observer: .init(isCancelled: { cancellation?.isCancelled ?? false }))
      })
    let ladder = try StreamLadder(
      choosingAmong: trial.entries.map(\.plan), framesPerSecond: options.framesPerSecond,
      deadline: options.deadline?.inSeconds, queue: options.queue)
    let limit = model.configuration.optimizationHints.specializationLimit
    let predictors = ladder.labels.enumerated().map { index, label in
      let entry = trial.entries.first { $0.plan.label == label }
      return index == 0 ? model.predictor : Predictor(loaded, [entry?.model], specializationLimit: limit)
    }
    let monitor = KelvinThermal.ThermalMonitor(envelope: envelope)
    let run = GovernedRun(Governor(ladder), HeatLog(monitor, at: clock.now()))
    return (ladder.labels, predictors, ladder.descriptions, run)
  }
}

/// A governor and the thermal monitor that it reads between frames.
final class GovernedRun: Sendable {
  private struct State {
    var governor: Governor
    var heat: HeatLog
  }

  private let state: Mutex<State>

  init(_ governor: Governor, _ heat: sending HeatLog) {
    state = Mutex(State(governor: governor, heat: heat))
  }

  /// Takes a thermal reading if one is due.
  ///
  /// - Returns: the governor's action; nil for none.
  func act(after now: Double) -> GovernorAction? {
    state.withLock { state in
      state.heat.sample(at: now).flatMap { state.governor.update($0) }
    }
  }
}
