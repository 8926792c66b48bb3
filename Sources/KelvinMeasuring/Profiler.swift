public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinProfiler
import KelvinRuntime

/// Measures every layer of a model on every device, with its real shapes and packed weights, and the copies between
/// devices. Devices take turns until every median is certain enough or the budget is spent.
///
/// ```swift
/// var profiler = Profiler(devices: ["cpu", "vulkan:0"])
/// profiler.budget = .seconds(5)
/// let profile = try await profiler.profile(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// for layer in profile.layers { print(layer.name, layer.costs.mapValues(\.median)) }
/// ```
public struct Profiler: Hashable, Sendable {
  /// The identifiers of the devices to measure; nil for every device, including software drivers.
  public var devices: [String]?
  /// The time of measuring for each device. Compilation and first runs take additional time.
  public var budget = Duration.seconds(10)
  /// The relative uncertainty of a layer's median that is accepted: 0.05 is ± 5 %.
  public var bound = 0.05
  /// Whether the measurements are stored for every later plan of this user. Requires the configuration's cache.
  public var keepsMeasurements = true
  /// The seed of generated inputs.
  package var seed: UInt64 = 0

  /// Creates a profiler of some devices.
  ///
  /// - Parameter devices: identifiers, as in `ComputeDevice.allComputeDevices`; nil for every device.
  public init(devices: [String]? = nil) { self.devices = devices }

  /// Measures a model.
  ///
  /// It takes `budget` for each device and keeps one CPU core busy. Cancelling the task ends measuring and
  /// returns the results so far (`ModelProfile.isPartial`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run; its units are not used.
  ///   - input: the input to predict on; nil for generated values that the model accepts.
  ///   - progress: called on another thread with the fraction of the work done, 0…1, and a description of the current
  ///     step.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit; `parameters` for a
  ///   budget that is not above 0; `predictionCancelled` if the task was cancelled before anything was measured.
  public func profile(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    input: (any FeatureProvider & Sendable)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> ModelProfile {
    try await profile(
      url, configuration, input: input, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// Does the same as `profile(contentsOf:configuration:input:progress:)`.
  ///
  /// - Parameter units: the units to measure; nil for `devices`.
  package func profile(
    _ url: URL, _ configuration: ModelConfiguration, units: ComputeUnits? = nil,
    input: (any FeatureProvider & Sendable)?, listener: MeasurementListener
  ) async throws(ModelError) -> ModelProfile {
    let profiler = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> ModelProfile in
      var configuration = configuration
      configuration.plan = nil
      configuration.computeUnits = units ?? .devices(devices ?? Self.everyDevice)
      return try profiler.measure(url, configuration, input, cancellation, listener)
    }
  }

  private static var everyDevice: [String] {
    deviceInventory.devices.map(\.info).filter { $0.kind != .reference && $0.kind != .null }.map(\.id)
  }

  /// Measures the model of a loaded `Model` with the same configuration.
  ///
  /// - Parameters:
  ///   - model: provides the file and the configuration. The file is read again, so predictions may continue, but they
  ///     disturb the measurement.
  ///   - input: the input to predict on; nil for generated values.
  /// - Throws: `ModelError` as `profile(contentsOf:configuration:input:progress:)` does.
  public func profile(
    _ model: Model, input: (any FeatureProvider & Sendable)? = nil
  ) async throws(ModelError) -> ModelProfile {
    try await profile(contentsOf: model.url, configuration: model.configuration, input: input)
  }

  private func measure(
    _ url: URL, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?,
    _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws(ModelError) -> ModelProfile {
    guard budget > .zero, bound > 0 else {
      throw ModelError(
        .parameters, "a profiler's budget is \(budget.inSeconds) s and its bound \(bound); both must be above 0")
    }
    let subject = try MeasuredSubject(url, configuration, input, seed: seed, isSampled: true, note: listener.note)
    return try ModelError.measuring {
      var measured = try graphs(of: subject, cancellation, listener)
      // A profile keeps the latest of a model's graphs, so the graph with the most work is merged last.
      var profile = measured[measured.count - 1].result.profile
      for part in measured.dropLast().reversed() { profile = try profile.merging(part.result.profile) }
      if keepsMeasurements, let cache = subject.loaded.context.cache {
        let remarks = try ProfileStore(cache.directory, kelvinVersion: kelvinVersion).save(profile)
        (remarks + subject.loaded.cacheRemarks).forEach(listener.note)
        measured[0].result.remarks += remarks
      }
      return ModelProfile(
        parts: measured, merged: profile, function: subject.loaded.function,
        format: subject.loaded.program.source.format.rawValue)
    }
  }

  /// Measures every graph that plans show, the graph with the most work first. All graphs share the budget.
  private func graphs(
    of subject: MeasuredSubject, _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws -> [ModelProfile.Part] {
    let (loaded, shown) = (subject.loaded, subject.loaded.shown.part.name)
    let all = loaded.shownGraphs
    let graphs = all.filter { $0.part.name == shown } + all.filter { $0.part.name != shown }
    var options = ProfilerOptions()
    options.budget = budget.inSeconds / Double(graphs.count)
    options.bound = bound
    options.loadSeconds = subject.loadSeconds
    var measured: [ModelProfile.Part] = []
    for graph in graphs where !graph.context.graph.nodes.isEmpty || graphs.count == 1 {
      let profiler = NodeProfiler(
        graph.context, graph.options.request, inputs: try subject.inputs(of: graph), options: options,
        kelvinVersion: kelvinVersion, cancellation: cancellation)
      let (began, clock) = (measured.count, SystemClock())
      let start = clock.now()
      do {
        var result = try profiler.run { progress in
          // Every graph has the same budget, and is expected to take as long as this one.
          var progress = progress
          let later = Double(graphs.count - began - 1)
          progress.secondsLeft = progress.secondsLeft.map { $0 + later * ($0 + clock.now() - start) }
          progress.fraction = (Double(began) + progress.fraction) / Double(graphs.count)
          listener.step(MeasurementStep(progress: progress))
        }
        if loaded.function.graphParts.count > 1 || graph.sample != nil {
          result.part = .init(
            name: graph.part.name, sampledSizes: graph.sampledSizes, sampledValues: graph.sampledValues)
        }
        measured.append(ModelProfile.Part(graph: graph, result: result))
      } catch RuntimeError.cancelled where !measured.isEmpty { break }
    }
    return measured
  }
}
