public import FoundationEssentials
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinProfiler
import KelvinRuntime

/// Measures every layer of a model on every device, with its real shapes and packed weights, and what copies between
/// devices cost. Devices take turns until every median is certain enough or the time is spent.
///
/// ```swift
/// var profiler = Profiler(devices: ["cpu", "vulkan:0"])
/// profiler.budget = 5
/// let profile = try await profiler.profile(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// for layer in profile.layers { print(layer.name, layer.costs.mapValues(\.seconds)) }
/// ```
public struct Profiler: Hashable, Sendable {
  /// Identifiers of the devices to measure; nil for every device, software drivers included.
  public var devices: [String]?
  /// Seconds of measuring for each device; compiling and first runs come on top.
  public var budget = 10.0
  /// The relative uncertainty of a layer's median that is good enough: 0.05 is ± 5 %.
  public var bound = 0.05
  /// Whether the user's own store keeps what was measured, for every later plan of this user. It needs the
  /// configuration's cache.
  public var keepsMeasurements = true
  /// Of made-up inputs.
  package var seed: UInt64 = 0

  /// A profiler of some devices.
  ///
  /// - Parameter devices: identifiers, as `ComputeDevice.allComputeDevices` has them; nil for every device.
  public init(devices: [String]? = nil) { self.devices = devices }

  /// Measures a model.
  ///
  /// Takes `budget` seconds for each device, and a core for as long; cancelling the task ends it with what has been
  /// measured by then (`Profile.isPartial`).
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run; its units are not used.
  ///   - input: what is predicted while measuring; nil for made-up values within what the model accepts.
  ///   - progress: told how much of the work is done, 0…1, and what is being done, on another thread.
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for an input that does not fit; `parameters` for a
  ///   budget that is not above 0; `predictionCancelled` where the task was cancelled before anything was measured.
  public func profile(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    input: (any FeatureProvider & Sendable)? = nil,
    progress: @escaping @Sendable (Double, String) -> Void = { _, _ in }
  ) async throws(ModelError) -> Profile {
    try await profile(
      ReadModel(contentsOf: url), configuration, input: input, listener: .init { progress($0.fraction, $0.phase) })
  }

  /// Measures a model that has been read, as `profile(contentsOf:configuration:input:progress:)` does.
  ///
  /// - Parameter units: what is measured; nil for `devices`.
  package func profile(
    _ file: ReadModel, _ configuration: ModelConfiguration, units: ComputeUnits? = nil,
    input: (any FeatureProvider & Sendable)?, listener: MeasurementListener
  ) async throws(ModelError) -> Profile {
    let profiler = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> Profile in
      var configuration = configuration
      configuration.plan = nil
      configuration.computeUnits = units ?? .devices(devices ?? Self.everyDevice)
      return try profiler.measure(file, configuration, input, cancellation, listener)
    }
  }

  private static var everyDevice: [String] {
    deviceInventory.devices.map(\.info).filter { $0.kind != .reference && $0.kind != .null }.map(\.id)
  }

  /// Measures a model as a loaded one was loaded.
  ///
  /// - Parameters:
  ///   - model: names the file and the configuration; it is read again, so predictions may go on meanwhile, but disturb
  ///     what is measured.
  ///   - input: what is predicted while measuring; nil for made-up values.
  /// - Throws: `ModelError` as `profile(contentsOf:configuration:input:progress:)` does.
  public func profile(
    _ model: Model, input: (any FeatureProvider & Sendable)? = nil
  ) async throws(ModelError) -> Profile {
    try await profile(contentsOf: model.url, configuration: model.configuration, input: input)
  }

  private func measure(
    _ file: ReadModel, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?,
    _ cancellation: Cancellation, _ listener: MeasurementListener
  ) throws(ModelError) -> Profile {
    guard budget > 0, budget.isFinite, bound > 0 else {
      throw ModelError(.parameters, "a profiler's budget is \(budget) s and its bound \(bound); both must be above 0")
    }
    let subject = try MeasuredSubject(file, configuration, input, seed: seed, note: listener.note)
    return try ModelError.measuring {
      var options = ProfilerOptions()
      options.budget = budget
      options.bound = bound
      options.loadSeconds = subject.loadSeconds
      let context = subject.loaded.context
      var result = try NodeProfiler(
        context, subject.options.request, inputs: subject.inputs, options: options, kelvinVersion: kelvinVersion,
        cancellation: cancellation
      ).run { listener.step(MeasurementStep($0)) }
      if keepsMeasurements, let cache = context.cache {
        let remarks = try ProfileStore(cache.directory, kelvinVersion: kelvinVersion).save(result.profile)
        (remarks + subject.loaded.cacheRemarks).forEach(listener.note)
        result.remarks += remarks
      }
      return Profile(
        result: result, context: context, request: subject.options.request,
        format: subject.loaded.program.source.format.rawValue)
    }
  }
}
