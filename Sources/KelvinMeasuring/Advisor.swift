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
import KelvinRuntime
import KelvinThermal

/// Recommends a configuration of a model for this machine: units, precision and threads. It answers separately for
/// single images, streams, throughput and long streams under thermal limits.
///
/// The advisor measures the candidates within a budget and reports which ones it left out.
///
/// ```swift
/// var advisor = Advisor()
/// advisor.framesPerSecond = 25
/// let advice = try await advisor.advise(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// for pick in advice.picks { print(pick.sentence) }
/// try advice.savePlans(to: URL(filePath: "plans"))
/// ```
public struct Advisor: Hashable, Sendable {
  /// A use of a model that a configuration is recommended for.
  public enum Question: String, Hashable, Sendable, CaseIterable {
    /// A single image, from the start of a process to its result.
    case photo
    /// Frames that arrive at a fixed rate.
    case stream
    /// As many images per second as possible.
    case throughput
    /// A stream that runs long enough for thermal limits to matter.
    case sustained
  }

  /// The questions to answer; at least one.
  public var questions: Set<Question> = Set(Question.allCases)
  /// Frames per second of `stream` and `sustained`.
  public var framesPerSecond = AdviceRequest.usualRate
  /// The duration of the `sustained` stream in simulated time.
  public var horizon = Duration.seconds(3600)
  /// The machine class of the `sustained` stream: one of `ThermalMonitor.envelopes` or the path of an envelope file.
  /// Nil means this machine's class.
  public var thermalEnvelope: String?
  /// The time to spend on measuring. The minimum that a measurement needs is used even if it exceeds the budget.
  public var budget = Duration.limited(seconds: AdviceRequest.usualBudget)
  /// The units to choose from. An empty array means the CPU, each hardware device, and all of them together.
  public var units: [ComputeUnits] = []
  /// Whether outputs are compared with the reference device's outputs, which is slow.
  public var checksAgreement = true
  /// The seed of generated inputs.
  package var seed: UInt64 = 0

  /// Creates an advisor with all questions for this machine.
  public init() {}

  /// Measures the candidates and returns a recommendation for each question.
  ///
  /// Measuring stays within the budget if at least one configuration can be measured within it. Cancelling the task
  /// ends measuring and returns the results so far (`Result.interruption`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run. If it fixes the precision or the number of threads, no other
  ///     value is tried. Its units are not used.
  ///   - input: the input to predict on; nil for generated values that the model accepts.
  ///   - progress: called on another thread with the fraction of the work done, 0…1, and a description of the current
  ///     step.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit; `parameters` for
  ///   invalid questions or numbers; `predictionCancelled` if the task was cancelled before anything was measured.
  public func advise(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    input: (any FeatureProvider & Sendable)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> Result {
    try await advise(
      url, configuration, input: input, starts: nil, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// Does the same as `advise(contentsOf:configuration:input:progress:)`.
  ///
  /// - Parameter starts: launches cold starts in separate processes; nil to run them within this process, which cannot
  ///   measure memory.
  package func advise(
    _ url: URL, _ configuration: ModelConfiguration, input: (any FeatureProvider & Sendable)?,
    starts: (any StartLauncher)?, listener: MeasurementListener
  ) async throws(ModelError) -> Result {
    let advisor = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try advisor.measure(url, configuration, input, starts, cancellation, listener)
    }
  }

  private func measure(
    _ url: URL, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?,
    _ launcher: (any StartLauncher)?, _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws(ModelError) -> Result {
    let machine = try ModelError.wrapping { try ThermalEnvelope(choosing: nil) }
    let request = AdviceRequest(
      questions: Set(questions.compactMap { AdviceRequest.Question(rawValue: $0.rawValue) }),
      framesPerSecond: framesPerSecond, horizon: horizon.inSeconds,
      envelope: try ModelError.wrapping { try thermalEnvelope.map { try ThermalEnvelope(named: $0) } ?? machine },
      budget: budget.inSeconds)
    try ModelError.measuring { try request.validate() }
    let configurations = try candidates(configuration)
    let compared = try configurations.compared()
    let subject = try MeasuredSubject(url, try configurations.shared(compared), input, seed: seed, note: listener.note)
    let loaded = subject.loaded
    return try ModelError.measuring {
      var options = BenchmarkOptions()
      options.isDeterministic = subject.options.isDeterministic
      options.checksAgreement = checksAgreement
      options.cancellation = cancellation
      options.date = ReportDate.now()
      options.remark = listener.note
      var journals: [JournalFile] = []
      let runner = try AdviceRunner(
        try subject.benchmarked(url, launcher, cancellation), request, loaded.fitted(compared), options: options,
        kelvinVersion: kelvinVersion, machine: machine,
        journal: { workload in
          guard let journal = try JournalFile(nil, loaded.context, workload.name, note: listener.note) else {
            return { _ in }
          }
          journals.append(journal)
          return { journal.append($0) }
        })
      let advice = try runner.run { listener.step(MeasurementStep(progress: $0)) }
      try loaded.keep(advice.evidence.trials).forEach(listener.note)
      loaded.cacheRemarks.forEach(listener.note)
      return Result(advice, of: loaded.context, journals: journals.map(\.path))
    }
  }

  /// Returns all combinations of units, thread counts and precisions, each with its label. Thread counts apply to the
  /// CPU, so only configurations that use the CPU alone vary in them. A saved plan is one more candidate.
  private func candidates(_ base: ModelConfiguration) throws(ModelError) -> [Benchmark.Configuration] {
    var base = base
    let planned = base.plan
    base.plan = nil
    let cores = defaultThreadCount
    let counts = sequence(first: 1) { $0 * 2 }.prefix { $0 < cores } + [cores]
    var candidates: [Benchmark.Configuration] = []
    for units in units.isEmpty ? ComputeUnits.comparable : units {
      let devices = try ModelError.wrapping { try units.selection.devices(in: deviceInventory) }
      let isHost = devices.allSatisfy { $0.info.kind == .cpu }
      for threads in isHost && base.threadCount == nil ? counts.map({ $0 }) : [base.threadCount] {
        for precision in base.precision == .automatic ? ComputePrecision.choices : [base.precision] {
          var configuration = base
          configuration.computeUnits = units
          configuration.threadCount = threads
          configuration.precision = precision
          let parts = [
            units.description, (isHost ? threads : nil).map { $0 == 1 ? "1 thread" : "\($0) threads" },
            precision == base.precision ? nil : precision.rawValue,
          ]
          candidates.append(.init(label: parts.compactMap { $0 }.joined(separator: ", "), configuration))
        }
      }
    }
    if let planned {
      base.plan = planned
      candidates.append(.init(label: "plan \(planned.relativePath)", base))
    }
    return candidates
  }
}
