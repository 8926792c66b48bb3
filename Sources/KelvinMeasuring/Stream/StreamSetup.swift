package import Kelvin
import KelvinBasics
package import KelvinEngine
import KelvinFeatures
package import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
package import KelvinRuntime
import KelvinStreams
package import KelvinThermal
import Synchronization

/// The predictors of a stream, one for each of its plans, and the control that selects among them.
package struct StreamSetup: Sendable {
  let labels: [String]
  /// The predictors, by plan.
  package let predictors: [Predictor]
  let setting: GovernorSetting
  /// Descriptions of the settings, the preferred one first.
  package let settings: [String]
  /// Notes about the settings: that no plan meets the deadline.
  package let remarks: [String]
  /// By plan, the size of the images that the model sees; nil for the usual one.
  package let imageSizes: [ImageFeature.Size?]
  /// By plan, the number of frames that are answered at the same time.
  let lanes: [Int]
  /// The state of the governor, or of the trial of frames at the same time; nil for a stream with one setting.
  let control: (any StreamControl)?

  private let machineHeat: MachineHeat

  /// Returns the latest report of the heat that the governor sees; without a governor, of the machine's sensors. Nil
  /// before the first report, and without sensors.
  package func heat(at now: Double) -> ThermalReport? {
    control?.isGovernor == true ? control?.latestReport : machineHeat.report(at: now)
  }

  /// - Parameter mayShrink: whether a governor may give a flexible model smaller images.
  /// - Throws: `ModelError` as `FrameStream.init` does.
  package init(
    _ model: Model, _ options: FrameStreamOptions, mayShrink: Bool = false, _ cancellation: Cancellation?
  ) throws(ModelError) {
    try Self.check(options)
    if let state = model.predictor.states.keys.min() {
      throw ModelError(.parameters, "the model has the state '\(state)', which the frames of a stream cannot share")
    }
    setting = GovernorSetting(queue: options.queue)
    machineHeat = try MachineHeat(options)
    guard options.isGoverned else {
      let shared = try ModelError.measuring { try Self.sharing(model, options, cancellation) }
      (lanes, predictors) = (shared.map(\.frames.lanes), shared.map(\.predictor))
      labels = shared.map { $0.frames.lanes == 1 ? "as planned" : $0.frames.text }
      settings = labels
      remarks = []
      imageSizes = shared.map { _ in nil }
      control =
        shared.count > 1 ? TriedConcurrency(ConcurrencyTrial(shared.map(\.frames), setting: setting)) : nil
      return
    }
    (labels, predictors, imageSizes, settings, remarks, control) = try ModelError.measuring {
      try Self.governed(model, options, mayShrink: mayShrink, cancellation)
    }
    lanes = []
  }

  /// The most frames that are answered in one batch.
  private static let largestBatch = 8

  /// Returns the ways to answer several frames at the same time that are tried, and the predictor of each. Frames share
  /// the CPU's threads: one and its doublings up to the number of threads, or up to two for each plan between which the
  /// model alternates. Or they form batches, if the plan predicts more answers per second for them: while one batch
  /// runs, the next one is read.
  private static func sharing(
    _ model: Model, _ options: FrameStreamOptions, _ cancellation: Cancellation?
  ) throws -> [(frames: ConcurrentFrames, predictor: Predictor)] {
    let loaded = model.loaded
    let request = loaded.options.request
    let plans = model.predictor.planCount
    let allowed = options.mostFramesAtOnce ?? (plans > 1 ? .max : 1)
    let most = min(allowed, max(request.threads, plans > 1 ? 2 * plans : 1))
    // Other thread counts can round differently. With several graphs, or images of unknown sizes, they would change for
    // some predictions only.
    let planned = (frames: ConcurrentFrames(lanes: 1), predictor: model.predictor)
    guard allowed > 1, !loaded.options.isDeterministic, loaded.graphs.count == 1,
      let graph = try usualGraph(loaded, options)
    else { return [planned] }
    let placements = Placement.alternating(try graph.proven().explanation.solution)
    let limit = model.configuration.optimizationHints.specializationLimit
    let shared = try doublings(upTo: most).map { lanes in
      let compiled = try graph.context.compile(
        alternating: placements, precision: request.precision, threads: max(1, request.threads / lanes),
        observer: .init(isCancelled: { cancellation?.isCancelled ?? false }))
      let predictor = Predictor(loaded, [compiled], specializationLimit: limit)
      return (frames: ConcurrentFrames(lanes: lanes), predictor: predictor)
    }
    let sizes = doublings(upTo: min((options.mostFramesAtOnce ?? 1) / 2, largestBatch))
    let batches = try model.predictor.batching(sizes, of: graph, cancellation).map { size, predictor in
      (frames: ConcurrentFrames(lanes: 2 * size, batch: size), predictor: predictor)
    }
    return [planned] + shared + batches
  }

  /// Returns the powers of two above 1 up to a number.
  private static func doublings(upTo most: Int) -> [Int] {
    Array(sequence(first: 2) { 2 * $0 }.prefix { $0 <= most })
  }

  /// Returns the graph for the images of a stream; nil if the model takes images of several sizes, and theirs is unknown.
  private static func usualGraph(_ loaded: LoadedModel, _ options: FrameStreamOptions) throws -> LoadedGraph? {
    guard let image = loaded.function.imageInput?.image, image.isFlexible else { return loaded.shown }
    return try options.frameSize.flatMap { try loaded.graph(forImages: image.nearestSize(to: $0)) }
  }

  /// Creates the setup of a stream that runs no model's plans, such as that of a request of another module.
  ///
  /// - Throws: `ModelError` with code `parameters` for invalid options.
  package init(_ options: FrameStreamOptions) throws(ModelError) {
    try Self.check(options)
    machineHeat = try MachineHeat(options)
    labels = ["as planned"]
    predictors = []
    setting = GovernorSetting(queue: options.queue)
    settings = labels
    remarks = []
    imageSizes = []
    lanes = []
    control = nil
  }

  private static func check(_ options: FrameStreamOptions) throws(ModelError) {
    func require(_ holds: Bool, _ reason: @autoclosure () -> String) throws(ModelError) {
      guard holds else { throw ModelError(.parameters, "a stream: \(reason())", fault: .request) }
    }
    try require(options.queue >= 1, "queue: expected at least 1 waiting frame, got \(options.queue)")
    try require(options.buffer >= 1, "buffer: expected at least 1 kept answer, got \(options.buffer)")
    let atOnce = options.mostFramesAtOnce ?? 1
    try require(atOnce >= 1, "mostFramesAtOnce: expected at least 1, got \(atOnce)")
    try require(!options.isGoverned || atOnce == 1, "mostFramesAtOnce: a governor answers one frame at a time")
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
    _ model: Model, _ options: FrameStreamOptions, mayShrink: Bool, _ cancellation: Cancellation?
  ) throws -> (
    labels: [String], predictors: [Predictor], imageSizes: [ImageFeature.Size?], settings: [String],
    remarks: [String], control: GovernedRun
  ) {
    let envelope = try ThermalEnvelope(choosing: options.thermalEnvelope)
    let loaded = model.loaded
    let request = loaded.options.request
    let (clock, files) = (SystemClock(), SystemFiles())
    let machine = MachineDescription(files)
    let usual = try usualGraph(loaded, options) ?? loaded.shown
    var ways = try usual.context.streamVariants(
      try usual.proven().explanation, precision: request.precision, threads: request.threads)
    var smaller: [ImageFeature.Size: LoadedGraph] = [:]
    if loaded.options.isDeterministic || loaded.graphs.count != 1 {
      // Other plans and thread counts can round differently. With several graphs, only one of them would change.
      ways = [ways[0]]
    } else if mayShrink {
      smaller = smallerGraphs(loaded, options)
      for (size, graph) in smaller.sorted(by: { $0.key.width > $1.key.width }) {
        ways.append(StreamVariant(ways[0], sees: size, by: try graph.proven().explanation))
      }
    }
    func graph(_ way: StreamVariant) -> LoadedGraph { way.imageSize.flatMap { smaller[$0] } ?? usual }
    let trial = try StreamTrial(
      ways, in: usual.context, inputs: { try loaded.syntheticTensors(for: graph($0), seed: 0) },
      framesPerSecond: options.framesPerSecond, cores: machine.logicalCores,
      on: envelope, clock: clock, cancellation: cancellation,
      compile: { way in
        try graph(way).context.compile(
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
    let entries = ladder.labels.map { label in trial.entries.first { $0.plan.label == label } }
    let predictors = entries.enumerated().map { index, entry in
      guard index > 0 || model.predictor.planCount > 1 else { return model.predictor }
      let predictor = Predictor(loaded, [entry.map { CompiledMixture($0.model) }], specializationLimit: limit)
      return entry?.variant.imageSize.map { predictor.with(loaded.function.limitingImages(to: $0)) } ?? predictor
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
    let alternation =
      model.predictor.planCount > 1 ? "one plan answers all frames at each setting, because a governor chooses it" : nil
    return (
      ladder.labels, predictors, entries.map { $0?.variant.imageSize }, ladder.descriptions,
      [ladder.remark(deadline: options.deadline?.inSeconds), alternation].compactMap { $0 },
      GovernedRun(Governor(ladder, options: limits), heat)
    )
  }

  /// Returns the graphs for smaller images than usual. A size that the model's description allows, but for which no
  /// graph or plan can be made, is left out.
  private static func smallerGraphs(
    _ loaded: LoadedModel, _ options: FrameStreamOptions
  ) -> [ImageFeature.Size: LoadedGraph] {
    guard let image = loaded.function.imageInput?.image else { return [:] }
    let given = ImageFeature.Size(width: image.width, height: image.height)
    let usual = options.frameSize.map(image.nearestSize) ?? given
    return image.smallerSizes(than: usual).reduce(into: [:]) { graphs, size in
      guard let graph = try? loaded.graph(forImages: size), (try? graph.proven()) != nil else { return }
      graphs[size] = graph
    }
  }
}
