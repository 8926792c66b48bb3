public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinRuntime
import KelvinThermal

/// Compares configurations of a model under a workload and recommends one.
///
/// Configurations take turns and are compared in pairs, so that disturbances of the machine affect all of them. A
/// winner is named only if the difference exceeds noise.
///
/// ```swift
/// var benchmark = Benchmark(workload: .stream(framesPerSecond: 30), units: [.cpuOnly, .all])
/// let result = try await benchmark.run(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// print(result.verdict)
/// try result.savePlan(to: URL(filePath: "plan.json"))
/// ```
public struct Benchmark: Hashable, Sendable {
  /// A configuration to compare, with its label.
  public struct Configuration: Hashable, Sendable {
    /// The configuration's name in results.
    public var label: String
    /// How the model is loaded and run. Function, input sizes, profile and cache of the benchmark's first configuration
    /// apply to all.
    public var configuration: ModelConfiguration

    /// Creates a configuration with a label.
    public init(label: String, _ configuration: ModelConfiguration) {
      self.label = label
      self.configuration = configuration
    }

    /// Creates a configuration of these units, with default options. The label is the units' command-line syntax.
    public init(_ units: ComputeUnits) {
      self.init(label: units.description, ModelConfiguration(computeUnits: units))
    }
  }

  /// The simulated heat of another machine.
  public struct SimulatedHeat: Hashable, Sendable {
    /// The class of machine: one of `ThermalMonitor.envelopes`, or the path of an envelope file.
    public var envelope: String
    /// The seconds of simulated heat per second of the stream, 1 to 600.
    public var speed: Double

    /// Creates the simulated heat of a class of machine.
    public init(envelope: String, speed: Double = 1) {
      self.envelope = envelope
      self.speed = speed
    }
  }

  /// The workload that every configuration runs.
  public var workload: Workload
  /// The configurations to compare; at least one.
  public var configurations: [Configuration]
  /// Whether outputs are compared with the reference device's outputs, which is slow.
  public var checksAgreement = true
  /// The time of starts and of warm inferences, for each configuration, after which only the rounds that a comparison
  /// needs are run; nil for all rounds of the workload.
  public var phaseLimit: Duration?
  /// Whether the best predicted plans of a configuration with several devices are run before one is adopted.
  public var triesPlans = true
  /// The roles of a decoder's inputs and outputs whose names do not show their role, by name. For workloads of tokens.
  public var tokenRoles: [String: TokenRole] = [:]
  /// The class of this machine for the thermal model: one of `ThermalMonitor.envelopes` or the path of an envelope
  /// file. Nil to assume a class.
  public var thermalEnvelope: String?
  /// The simulated heat that replaces this machine's own in a stream, so that the governor can be tested on a machine
  /// that stays cool or has no sensors.
  ///
  /// Frames, rates and times are real, heat is simulated, and every result says so. Nil to use this machine's heat.
  public var simulatedHeat: SimulatedHeat?
  /// The path of the journal that records measurements as they are made, for `Result(contentsOfJournal:)`. Nil for a
  /// file in the cache.
  public var journal: String?
  /// The seed of generated inputs.
  package var seed: UInt64 = 0

  /// Creates a comparison of configurations.
  public init(workload: Workload, configurations: [Configuration]) {
    self.workload = workload
    self.configurations = configurations
  }

  /// Creates a comparison of compute units.
  ///
  /// - Parameters:
  ///   - workload: the workload that every configuration runs.
  ///   - units: nil for the CPU, each hardware device of this machine, and all together.
  public init(workload: Workload, units: [ComputeUnits]? = nil) {
    self.init(workload: workload, configurations: (units ?? ComputeUnits.comparable).map { Configuration($0) })
  }

  /// Runs the comparison.
  ///
  /// It takes the workload's duration for each configuration, plus the time of starts. Cancelling the task ends
  /// measuring and returns the results so far (`Result.interruption`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - input: the input to predict on; nil for the first of the frames, or for generated values that the model
  ///     accepts.
  ///   - frames: the frames of a stream; nil to repeat the input. Other workloads do not use them.
  ///   - progress: called on another thread with the fraction of the work done, 0…1, and a description of the current
  ///     step.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit. `parameters` for an
  ///   invalid workload, no configurations, or configurations of different functions or input sizes.
  ///   `predictionCancelled` if the task was cancelled before anything was measured.
  public func run(
    contentsOf url: URL, input: (any FeatureProvider & Sendable)? = nil, frames: (any BenchmarkFrames)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> Result {
    try await run(
      url, input: input, frames: frames, starts: nil, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// Does the same as `run(contentsOf:input:frames:progress:)`.
  ///
  /// - Parameter starts: launches cold starts in separate processes; nil to run them within this process.
  package func run(
    _ url: URL, input: (any FeatureProvider & Sendable)?, frames: (any BenchmarkFrames)? = nil,
    starts: (any StartLauncher)?, listener: MeasurementListener
  ) async throws(ModelError) -> Result {
    let benchmark = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try benchmark.measure(url, input, frames, starts, cancellation, listener)
    }
  }

  private func measure(
    _ url: URL, _ input: (any FeatureProvider)?, _ frames: (any BenchmarkFrames)?, _ launcher: (any StartLauncher)?,
    _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws(ModelError) -> Result {
    let envelope = try ModelError.wrapping { try ThermalEnvelope(choosing: thermalEnvelope) }
    let tokens = try tokens(of: url)
    let configurations = configurations.map { $0.sized(by: tokens) }
    let given = try configurations.compared()
    let frames = workload.kind == .stream ? frames : nil
    let first = input == nil ? try ModelError.wrapping { try frames?.next(passingOver: 0) } : nil
    let subject = try MeasuredSubject(
      url, try configurations.shared(given), input ?? first ?? tokens?.step, seed: seed, note: listener.note)
    let (loaded, readOptions) = (subject.loaded, subject.options)
    return try ModelError.measuring {
      var options = BenchmarkOptions()
      options.phaseLimit = phaseLimit?.inSeconds
      options.isDeterministic = readOptions.isDeterministic
      options.checksAgreement = checksAgreement
      options.triesPlans = triesPlans
      options.cancellation = cancellation
      options.date = ReportDate.now()
      options.simulatedHeat = try simulatedHeat.map { (try ThermalEnvelope(named: $0.envelope), $0.speed) }
      options.remark = listener.note
      options.backgroundLoad = launcher.map { launcher in { BackgroundLoadProcess($0, launcher) } }
      let journalFile = try JournalFile(journal, loaded.context, workload.name, note: listener.note)
      options.keep = { journalFile?.append($0) }
      let runner = try BenchmarkRunner(
        try subject.benchmarked(url, launcher, cancellation, tokens, frames),
        workload.value, loaded.fitted(given), options: options, kelvinVersion: kelvinVersion, envelope: envelope)
      let result = try runner.run { listener.step(MeasurementStep(progress: $0)) }
      // Plans measured under background load are not kept, because they do not hold for the idle machine.
      if workload.value.reserve.isEmpty, workload.value.otherLoad.isEmpty {
        try loaded.keep(result.configurations.compactMap(\.trial)).forEach(listener.note)
      }
      loaded.cacheRemarks.forEach(listener.note)
      return Result(result, of: loaded.context, envelope, journal: journalFile?.path)
    }
  }
}

extension Benchmark {
  /// Returns how the model takes tokens; nil for workloads without tokens.
  private func tokens(of url: URL) throws(ModelError) -> BenchmarkedTokens? {
    guard workload.kind == .tokens, let first = configurations.first?.configuration else { return nil }
    let file = try ReadModel(contentsOf: url, allowsLinks: first.allowsLinks, isolation: first.isolation)
    let function = try ModelError.wrapping { try file.program.function(first.functionName) }
    return try BenchmarkedTokens(
      function, roles: tokenRoles, prompt: workload.promptCount, tokens: workload.tokenCount, seed: seed)
  }
}

extension Benchmark.Configuration {
  /// Adds the input sizes of a decoding step where none were given.
  fileprivate func sized(by tokens: BenchmarkedTokens?) -> Benchmark.Configuration {
    var sized = self
    sized.configuration.inputShapes.merge(tokens?.shapes ?? [:]) { given, _ in given }
    return sized
  }
}
