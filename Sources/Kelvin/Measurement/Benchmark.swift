public import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

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
      self.init(label: units.selection.description, ModelConfiguration(computeUnits: units))
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

  /// A comparison of configurations.
  public init(workload: Workload, configurations: [Configuration]) {
    self.workload = workload
    self.configurations = configurations
  }

  /// A comparison of compute units.
  public init(workload: Workload, units: [ComputeUnits]) {
    self.init(workload: workload, configurations: units.map { Configuration($0) })
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
    let benchmark = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> Result in
      try benchmark.measure(url, input, cancellation, progress)
    }
  }

  private func measure(
    _ url: URL, _ input: (any FeatureProvider)?, _ cancellation: Cancellation,
    _ progress: @escaping @Sendable (Double, String) -> Void
  ) throws(ModelError) -> Result {
    guard let first = configurations.first?.configuration else {
      throw ModelError(.parameters, "a benchmark needs at least one configuration")
    }
    for other in configurations
    where other.configuration.functionName != first.functionName
      || other.configuration.inputShapes != first.inputShapes
    {
      throw ModelError(
        .parameters, "'\(other.label)' is for another function or other input sizes than '\(configurations[0].label)'")
    }
    var shared = first
    shared.plan = nil
    shared.pins = [:]
    let every = configurations.map(\.configuration.computeUnits.selection)
    if case .devices(let ids) = try ModelError.wrapping({ try UnitsSelection.union(every, in: deviceInventory) }) {
      shared.computeUnits = .devices(ids)
    }
    let subject = try MeasuredSubject(url, shared, input)
    var compared: [BenchmarkConfiguration] = []
    for candidate in configurations {
      let options = try candidate.configuration.options()
      compared.append(
        BenchmarkConfiguration(label: candidate.label, request: options.request, plan: options.plan))
    }
    return try ModelError.measuring {
      let loaded = subject.loaded
      let readOptions = subject.options
      var options = BenchmarkOptions()
      options.isDeterministic = first.isDeterministic
      options.checksAgreement = checksAgreement
      options.triesPlans = triesPlans
      options.cancellation = cancellation
      let runner = try BenchmarkRunner(
        BenchmarkSubject(
          context: loaded.context, format: loaded.program.source.format.rawValue, inputs: [subject.inputs],
          hasMadeUpInputs: subject.hasMadeUpInputs, classes: loaded.scoresOutput,
          files: loaded.program.source.files, loadSeconds: subject.loadSeconds,
          reload: { _ = try LoadedModel(path: url.path, options: readOptions) }),
        workload.value, compared, options: options, kelvinVersion: kelvinVersion)
      return Result(try runner.run { progress($0.fraction, $0.phase) })
    }
  }
}
