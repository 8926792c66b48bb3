#if Measuring
public import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// Finds out which configuration of a model to pick on this machine: units, precision and threads, for one photo, for a
/// stream, for throughput, and for a stream that has to last.
///
/// It measures what it has to within a budget, and says what it left out.
///
/// ```swift
/// var advisor = Advisor()
/// advisor.framesPerSecond = 25
/// let advice = try await advisor.advise(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// for pick in advice.picks { print(pick.sentence) }
/// try advice.savePlans(to: URL(filePath: "plans"))
/// ```
public struct Advisor: Hashable, Sendable {
  /// What a model is wanted for.
  public enum Question: String, Hashable, Sendable, CaseIterable {
    /// A single image, from the start of a process to its answer.
    case photo
    /// Frames that arrive by the clock.
    case stream
    /// As many images as will go.
    case throughput
    /// The stream, for so long that heat tells.
    case sustained
  }

  /// What is asked; at least one.
  public var questions: Set<Question> = Set(Question.allCases)
  /// Arrivals a second of the stream, and of what has to last.
  public var framesPerSecond = AdviceRequest.usualRate
  /// Seconds for which the stream has to last, in virtual time.
  public var horizon = 3600.0
  /// The class of machine on which it has to last, one of `ThermalMonitor.envelopes` or the path of such a file; this
  /// machine's where nil.
  public var thermalEnvelope: String?
  /// Seconds that measuring may take: as many as are needed at least are taken.
  public var budget = AdviceRequest.usualBudget
  /// The units to choose from; where empty, the CPU, each hardware device, and all together.
  public var units: [ComputeUnits] = []
  /// Whether outputs are compared with those of the reference device, which is slow.
  public var checksAgreement = true
  /// Of made-up inputs.
  package var seed: UInt64 = 0

  /// All questions, for this machine.
  public init() {}

  /// Measures, and says what to pick.
  ///
  /// Takes the budget at most where one configuration can be measured within it; cancelling the task ends it with what
  /// has been found out by then (`Result.interruption`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run. Where it fixes the precision or the number of threads, no
  ///     other is tried; its units are not used.
  ///   - input: what is predicted; nil for made-up values within what the model accepts.
  ///   - progress: told how much of the work is done, 0…1, and what is being done, on another thread.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit; `parameters` for
  ///   questions or numbers that mean nothing; `predictionCancelled` where the task was cancelled before anything was
  ///   measured.
  public func advise(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    input: (any FeatureProvider & Sendable)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> Result {
    try await advise(
      url, configuration, input: input, starts: nil, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// As `advise(contentsOf:configuration:input:progress:)`.
  ///
  /// - Parameter starts: makes starts in processes of their own; nil to make them within this one, which tells no
  ///   memory.
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
      framesPerSecond: framesPerSecond, horizon: horizon,
      envelope: try ModelError.wrapping { try thermalEnvelope.map { try ThermalEnvelope(named: $0) } ?? machine },
      budget: budget)
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
      let advice = try runner.run { listener.step(MeasurementStep($0)) }
      try loaded.keep(advice.evidence.trials).forEach(listener.note)
      loaded.cacheRemarks.forEach(listener.note)
      return Result(advice, of: loaded.context, journals: journals.map(\.path))
    }
  }

  /// Units by threads by precision, with labels of their own. Threads are of the CPU, so they tell its own
  /// configurations apart.
  private func candidates(_ base: ModelConfiguration) throws(ModelError) -> [Benchmark.Configuration] {
    var base = base
    let planned = base.plan
    base.plan = nil
    let cores = MachineDescription(SystemFiles()).logicalCores
    let counts = sequence(first: 1) { $0 * 2 }.prefix { $0 < cores } + [max(cores, 1)]
    var candidates: [Benchmark.Configuration] = []
    for units in units.isEmpty ? ComputeUnits.comparable : units {
      let devices = try ModelError.wrapping { try units.selection.devices(in: deviceInventory) }
      let isHost = devices.allSatisfy { $0.info.kind == .cpu }
      for threads in isHost && base.threadCount == nil ? counts.map({ $0 }) : [base.threadCount] {
        for precision in base.precision == .automatic ? ComputePrecision.allCases : [base.precision] {
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
#endif
