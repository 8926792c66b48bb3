package import Kelvin
import KelvinBasics
package import KelvinEngine
import KelvinFeatures
import KelvinMeasurements
package import KelvinRuntime
import KelvinStreams
package import KelvinThermal
import Synchronization

/// The predictors of a stream, one for each plan of its ladder, and the governor that selects among them.
package struct StreamSetup: Sendable {
  let labels: [String]
  /// The predictors, by plan of the ladder.
  package let predictors: [Predictor]
  let setting: GovernorSetting
  /// Descriptions of the settings, the preferred one first.
  package let settings: [String]
  /// The governor's state; nil for a stream without a governor.
  let run: GovernedRun?

  /// The latest report of the heat that the governor sees; nil without a governor.
  package var heat: ThermalReport? { run?.latestReport }

  /// - Throws: `ModelError` as `FrameStream.init` does.
  package init(_ model: Model, _ options: FrameStreamOptions, _ cancellation: Cancellation?) throws(ModelError) {
    try Self.check(options)
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

  /// Creates the setup of a stream that runs no model's plans, such as that of a request of another module.
  ///
  /// - Throws: `ModelError` with code `parameters` for invalid options.
  package init(_ options: FrameStreamOptions) throws(ModelError) {
    try Self.check(options)
    labels = ["as planned"]
    predictors = []
    setting = GovernorSetting(queue: options.queue)
    settings = labels
    run = nil
  }

  private static func check(_ options: FrameStreamOptions) throws(ModelError) {
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
    try require(
      options.maximumWatts.map { $0 > 0 && $0.isFinite } ?? true,
      "maximumWatts: expected above 0, got \(options.maximumWatts ?? 0)")
    try require(
      options.isGoverned || options.simulatedHeat == nil && options.maximumWatts == nil,
      "simulatedHeat and maximumWatts are for a governor; set isGoverned")
  }

  private static func governed(
    _ model: Model, _ options: FrameStreamOptions, _ cancellation: Cancellation?
  ) throws -> (labels: [String], predictors: [Predictor], settings: [String], run: GovernedRun) {
    let envelope = try ThermalEnvelope(choosing: options.thermalEnvelope)
    let loaded = model.loaded
    let request = loaded.options.request
    let (clock, files) = (SystemClock(), SystemFiles())
    let machine = MachineDescription(files)
    var ways = try loaded.context.streamVariants(
      try loaded.shown.proven().explanation, precision: request.precision, threads: request.threads)
    // Other plans and thread counts can round differently. With several graphs, only one of them would change.
    if loaded.options.isDeterministic || loaded.graphs.count != 1 { ways = [ways[0]] }
    let trial = try StreamTrial(
      ways, in: loaded.context, inputs: try loaded.syntheticTensors(for: loaded.shown, seed: 0),
      framesPerSecond: options.framesPerSecond, cores: machine.logicalCores,
      on: envelope, clock: clock, cancellation: cancellation,
      compile: { way in
        try loaded.context.compile(
          way.solution, precision: way.precision, threads: way.threads, isDeterministic: loaded.options.isDeterministic,
          observer: .init(isCancelled: { cancellation?.isCancelled ?? false }))
      })
    let simulated = try options.simulatedHeat.map {
      try SimulatedHeat(envelope: try ThermalEnvelope(named: $0.envelope), speed: $0.speed)
    }
    // The governor's watts must be those of the machine whose heat it sees.
    let plans = trial.entries.map(\.plan).map { plan in
      simulated.map { simulated in
        StreamPlan.carriedOver(
          label: plan.label, secondsPerFrame: plan.secondsPerFrame, joules: plan.joulesPerFrame,
          source: plan.energySource, isMeasured: trial.isEnergyMeasured, remark: plan.remark, on: machine,
          from: envelope, to: simulated.envelope)
      } ?? plan
    }
    let limits = Governor.Options(mostWatts: options.maximumWatts, deadline: options.deadline?.inSeconds)
    let ladder = try StreamLadder(
      choosingAmong: plans, framesPerSecond: options.framesPerSecond,
      deadline: options.deadline?.inSeconds, queue: options.queue, options: limits)
    let limit = model.configuration.optimizationHints.specializationLimit
    let predictors = ladder.labels.enumerated().map { index, label in
      let entry = trial.entries.first { $0.plan.label == label }
      return index == 0 ? model.predictor : Predictor(loaded, [entry?.model], specializationLimit: limit)
    }
    let heat: GovernedRun.Heat
    if let simulated {
      let watts = ladder.labels.map { label in plans.first { $0.label == label }?.watts ?? 0 }
      heat = .simulated(simulated, watts: watts, began: clock.now())
    } else {
      guard options.maximumWatts == nil || !EnergyCounters(files: files).readings().isEmpty else {
        throw ModelError(
          .parameters,
          "maximumWatts: this machine has no counters of its power; give the heat of another machine, or leave it out",
          fault: .request)
      }
      heat = .machine(HeatLog(KelvinThermal.ThermalMonitor(envelope: envelope), at: clock.now()))
    }
    return (
      ladder.labels, predictors, ladder.descriptions, GovernedRun(Governor(ladder, options: limits), heat)
    )
  }
}
