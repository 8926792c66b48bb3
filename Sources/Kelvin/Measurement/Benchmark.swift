#if Measuring
public import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinRuntime
import KelvinThermal

/// Compares ways to run a model under a workload, and says which to pick.
///
/// Configurations take turns and are compared in pairs, so that whatever else the machine does falls on
/// all of them. A winner is named only where the difference is beyond noise.
///
/// ```swift
/// var benchmark = Benchmark(workload: .stream(framesPerSecond: 30), units: [.cpuOnly, .all])
/// let result = try await benchmark.run(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// print(result.verdict)
/// try result.savePlan(to: URL(filePath: "plan.json"))
/// ```
public struct Benchmark: Hashable, Sendable {
  /// One of the ways to run the model.
  public struct Configuration: Hashable, Sendable {
    /// What results call it.
    public var label: String
    /// How the model is loaded and run. Function, input sizes, profile and cache are those of the benchmark's first
    /// configuration for all.
    public var configuration: ModelConfiguration

    /// A way to run the model.
    public init(label: String, _ configuration: ModelConfiguration) {
      self.label = label
      self.configuration = configuration
    }

    /// Units, everything else by default; the label is as the command line spells them.
    public init(_ units: ComputeUnits) {
      self.init(label: units.description, ModelConfiguration(computeUnits: units))
    }
  }

  /// The heat of a machine that is not there.
  public struct SimulatedHeat: Hashable, Sendable {
    /// The class of machine: one of `ThermalMonitor.envelopes`, or the path of such a file.
    public var envelope: String
    /// Seconds of its heat in each second of the stream, 1 to 600.
    public var speed: Double

    /// The heat of a class of machine.
    public init(envelope: String, speed: Double = 1) {
      self.envelope = envelope
      self.speed = speed
    }
  }

  /// What the model is asked to do.
  public var workload: Workload
  /// What is compared; at least one.
  public var configurations: [Configuration]
  /// Whether outputs are compared with those of the reference device, which is slow.
  public var checksAgreement = true
  /// Whether the best plans of a configuration are run before one is adopted, where it has several devices.
  public var triesPlans = true
  /// What inputs and outputs of a decoder are for whose names do not say it, by name; for a workload of tokens.
  public var tokenRoles: [String: TokenRole] = [:]
  /// The class of this machine for the model of heat, one of `ThermalMonitor.envelopes` or the path of such a file; an
  /// assumed one where nil.
  public var thermalEnvelope: String?
  /// A machine of another class whose heat a stream has in place of this one's, so that its governor has something to do
  /// on a machine that stays cool or has no sensors: frames, rates and times are real, heat is not, and every result says
  /// so. Nil for this machine's own.
  public var simulatedHeat: SimulatedHeat?
  /// The path of the file in which what is measured is kept as it comes, for `Result(contentsOfJournal:)`; in the cache
  /// where nil.
  public var journal: String?
  /// Of made-up inputs.
  package var seed: UInt64 = 0

  /// A comparison of configurations.
  public init(workload: Workload, configurations: [Configuration]) {
    self.workload = workload
    self.configurations = configurations
  }

  /// A comparison of compute units.
  ///
  /// - Parameters:
  ///   - workload: what every configuration is asked to do.
  ///   - units: nil for the CPU, each hardware device of this machine, and all together.
  public init(workload: Workload, units: [ComputeUnits]? = nil) {
    self.init(workload: workload, configurations: (units ?? ComputeUnits.comparable).map { Configuration($0) })
  }

  /// Runs the comparison.
  ///
  /// Takes the workload's duration for each configuration and what starting them takes; cancelling the task ends it
  /// with what has been measured by then (`Result.interruption`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - input: what is predicted; nil for made-up values within what the model accepts.
  ///   - progress: told how much of the work is done, 0…1, and what is being done, on another thread.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit; `parameters` for a
  ///   workload that means nothing, no configurations, or configurations of different functions or input sizes;
  ///   `predictionCancelled` where the task was cancelled before anything was measured.
  public func run(
    contentsOf url: URL, input: (any FeatureProvider & Sendable)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> Result {
    try await run(
      url, input: input, starts: nil, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// As `run(contentsOf:input:progress:)`.
  ///
  /// - Parameter starts: makes starts in processes of their own; nil to make them within this one.
  package func run(
    _ url: URL, input: (any FeatureProvider & Sendable)?, starts: (any StartLauncher)?,
    listener: MeasurementListener
  ) async throws(ModelError) -> Result {
    let benchmark = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try benchmark.measure(url, input, starts, cancellation, listener)
    }
  }

  private func measure(
    _ url: URL, _ input: (any FeatureProvider)?, _ launcher: (any StartLauncher)?,
    _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws(ModelError) -> Result {
    let envelope = try ModelError.wrapping { try ThermalEnvelope(choosing: thermalEnvelope) }
    let tokens = try tokens(of: url)
    let configurations = configurations.map { $0.sized(by: tokens) }
    let given = try configurations.compared()
    let subject = try MeasuredSubject(
      url, try configurations.shared(given), input ?? tokens?.step, seed: seed, note: listener.note)
    let (loaded, readOptions) = (subject.loaded, subject.options)
    return try ModelError.measuring {
      var options = BenchmarkOptions()
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
        try subject.benchmarked(url, launcher, cancellation, tokens),
        workload.value, loaded.fitted(given), options: options, kelvinVersion: kelvinVersion, envelope: envelope)
      let result = try runner.run { listener.step(MeasurementStep($0)) }
      // What is found beside other work says nothing of the machine when it is idle.
      if workload.value.reserve.isEmpty, workload.value.otherLoad.isEmpty {
        try loaded.keep(result.configurations.compactMap(\.trial)).forEach(listener.note)
      }
      loaded.cacheRemarks.forEach(listener.note)
      return Result(result, of: loaded.context, envelope, journal: journalFile?.path)
    }
  }
}

extension Benchmark {
  /// How the model takes tokens; nil where none are asked for.
  private func tokens(of url: URL) throws(ModelError) -> BenchmarkedTokens? {
    guard workload.kind == .tokens, let first = configurations.first?.configuration else { return nil }
    let file = try ReadModel(contentsOf: url, allowsLinks: first.allowsLinks)
    let function = try ModelError.wrapping { try file.program.function(first.functionName) }
    return try BenchmarkedTokens(
      function, roles: tokenRoles, prompt: workload.promptCount, tokens: workload.tokenCount, seed: seed)
  }
}

extension Benchmark.Configuration {
  /// With the sizes of a step of tokens, as far as none were given.
  fileprivate func sized(by tokens: BenchmarkedTokens?) -> Benchmark.Configuration {
    var sized = self
    sized.configuration.inputShapes.merge(tokens?.shapes ?? [:]) { given, _ in given }
    return sized
  }
}
#endif
