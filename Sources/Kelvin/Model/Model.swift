public import FoundationEssentials
import KelvinBasics
package import KelvinEngine
public import KelvinFeatures
package import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// A model that is loaded, placed on devices and ready to predict.
///
/// Any number of tasks can use a model at once. Each prediction borrows an execution context and waits if all contexts
/// of the model are in use. Models of one process share its devices and its CPU threads.
///
/// ```swift
/// let model = try await Model.load(contentsOf: URL(filePath: "Digits.mlpackage"))
/// let input = DictionaryFeatureProvider(dictionary: ["image": try FeatureValue(imageAt: URL(filePath: "seven.png"))])
/// print(try await model.prediction(from: input)["classLabel"]?.stringValue ?? "nothing")
/// ```
public final class Model: Sendable {
  /// The description of the model's inputs, outputs and states.
  public let modelDescription: ModelDescription
  /// The file or package that the model was loaded from.
  public let url: URL
  /// The configuration that the model was loaded with.
  public let configuration: ModelConfiguration
  /// The placement of each operation, with reasons, for the model's default input sizes. If devices have failed since
  /// the model was loaded, the plan uses the remaining devices.
  public var computePlan: ComputePlan {
    let exclusions = loaded.fallback.exclusions()
    return current.withLock { current in
      guard current.exclusions != exclusions else { return current.plan }
      // If planning fails, the previous plan stays, and the next prediction reports the error.
      if let plan = try? ComputePlan(loaded, PlannedModel(loaded).all) { current.plan = plan }
      current.exclusions = exclusions
      return current.plan
    }
  }
  /// Messages for the user: a stale profile, a cache that could not be written, operations that run outside the
  /// requested units, failed devices and their replacements.
  public var remarks: [String] { (outages + computePlan.remarks + loadRemarks).uniqued }
  private let loadRemarks: [String]
  /// The current plan, and what it excludes.
  private let current: Mutex<(plan: ComputePlan, exclusions: DeviceFallback.Exclusions)>

  /// The function that predictions call, with its features as the model declares them.
  package var function: Function { predictor.loaded.function }

  package let predictor: Predictor

  /// The loaded model, for commands.
  package var loaded: LoadedModel { predictor.loaded }

  /// The total size in bytes of the files that the model was read from, including weights.
  package var fileByteCount: Int {
    loaded.program.source.files.reduce(0) { $0 + ((try? OpenFile($1))?.byteCount ?? 0) }
  }

  /// The planning and compilation work for predictions of other than the default sizes, since the model was loaded.
  public struct SizeCosts: Hashable, Sendable {
    /// How often a plan was searched for. Sizes up to the same power of two share a plan.
    public let plans: Int
    /// How often the model was compiled: at the first use of each size, and again if its specialization was evicted.
    public let compilations: Int
  }

  /// The planning and compilation work for predictions of other than the default sizes so far.
  public var sizeCosts: SizeCosts {
    let counts = predictor.specializationCounts
    return SizeCosts(plans: counts.plans, compilations: counts.compilations)
  }

  /// Messages about failed devices that the model could have used, and about doubtful predictions.
  package var outages: [String] { loaded.guardian.remarks + loaded.fallback.remarks }

  /// Returns a predictor with other features or host operations around the same graphs. It shares this model's memory.
  package func predictor(of function: Function) -> Predictor { predictor.with(function) }

  /// Loads an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx` and compiles it for the configuration's units. Blocks
  /// the calling thread.
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run.
  ///   - progress: called on the calling thread with the fraction of the work done, 0…1.
  /// - Throws: `ModelError`: an unreadable or invalid file (`io`), features that Kelvin does not support
  ///   (`unsupported`, which lists all of them), or an invalid configuration (`parameters`).
  public convenience init(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws(ModelError) {
    let budget = configuration.budget
    try self.init(
      ReadModel(contentsOf: url, configuration, budget), configuration,
      .init(progress: progress), budget)
  }

  /// Compiles a model that has been read, for the configuration's units. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does.
  package convenience init(
    _ file: ReadModel, configuration: ModelConfiguration,
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws(ModelError) {
    try self.init(file, configuration, .init(progress: progress), configuration.budget)
  }

  private init(
    _ file: ReadModel, _ configuration: ModelConfiguration, _ observer: CompiledModel.Observer, _ budget: WorkBudget?
  ) throws(ModelError) {
    let configuration = configuration.storing(file)
    let options = try configuration.options()
    let limit = configuration.optimizationHints.specializationLimit
    let planned: PlannedModel
    let plan: (ComputePlan, DeviceFallback.Exclusions)
    (planned, predictor, plan) = try ModelError.wrapping(within: budget) {
      let loaded = try LoadedModel(program: file.program, options: options)
      if observer.isCancelled() { throw RuntimeError.cancelled }
      return try loaded.fallback.withFallback { exclusions in
        let planned = try PlannedModel(loaded)
        let predictor = try planned.predictor(specializationLimit: limit, observer: observer)
        return (planned, predictor, (try ComputePlan(loaded, planned.all), exclusions))
      }
    }
    let loaded = planned.model
    current = Mutex((plan: plan.0, exclusions: plan.1))
    url = file.url
    self.configuration = configuration
    modelDescription = ModelDescription(loaded.function, loaded.program.metadata)
    loadRemarks = loaded.remarks + planned.remarks + loaded.cacheRemarks
  }

  /// Loads a model without blocking the calling task's thread. Cancelling the task ends the loading.
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run.
  ///   - progress: called on another thread with the fraction of the work done, 0…1.
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does; `predictionCancelled` if the task was
  ///   cancelled.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> Model {
    try await load(
      ModelAsset(url: url, isolation: configuration.isolation).opened(as: configuration), configuration,
      progress: progress)
  }

  /// Loads an asset's model. The asset decides whether links are followed.
  static func load(
    _ asset: ModelAsset, _ configuration: ModelConfiguration, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> Model {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Model in
      let budget = configuration.budget
      return try Model(
        ReadModel(asset, budget), configuration,
        .init(progress: progress, isCancelled: { cancellation.isCancelled }), budget)
    }
  }

  /// Loads a model from a file that has been read.
  package static func load(
    _ file: ReadModel, _ configuration: ModelConfiguration
  ) async throws(ModelError) -> Model {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Model in
      try Model(file, configuration, .init(isCancelled: { cancellation.isCancelled }), configuration.budget)
    }
  }

  /// The devices of this machine that models may use.
  public static var availableComputeDevices: [ComputeDevice] { ComputeDevice.allComputeDevices }

  /// Makes one prediction. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` with code `featureType` that names an input that is missing, unknown or does not fit, or a
  ///   backing that does not fit its output; `device` if a device failed.
  public func prediction(
    from input: some FeatureProvider, options: PredictionOptions = PredictionOptions()
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try predictor.predict(input, options.outputBackings, nil)
  }

  /// Makes one prediction without blocking the calling task's thread.
  ///
  /// Cancelling the task ends the prediction: before it begins, between two operations on the CPU, or once the devices
  /// have finished their submissions. The model stays usable.
  ///
  /// - Throws: `ModelError` as the blocking method does; `predictionCancelled` if the task was cancelled.
  public func prediction(
    from input: some FeatureProvider, options: PredictionOptions = PredictionOptions()
  ) async throws(ModelError) -> DictionaryFeatureProvider {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> DictionaryFeatureProvider in
      try self.predictor.predict(input, options.outputBackings, cancellation)
    }
  }
}

extension Model {
  /// Makes one prediction, with zeroed states if the model has states, and returns the seconds that its graphs took.
  /// Blocks the calling thread.
  ///
  /// - Throws: `ModelError` as `prediction(from:options:)` does.
  package func timedPrediction(
    from input: some FeatureProvider
  ) throws(ModelError) -> (features: DictionaryFeatureProvider, seconds: Double) {
    let result =
      predictor.states.isEmpty ? try predictor.run(input) : try predictor.run(input, using: predictor.makeState())
    return (result.features, result.seconds)
  }

  /// Adds generated values for required inputs without a value. The same seed gives the same values. Also returns a
  /// message for each generated input, with its name and type.
  ///
  /// - Throws: `ModelError` with code `device` if the host is out of memory.
  package func completed(
    _ values: DictionaryFeatureProvider, seed: UInt64
  ) throws(ModelError) -> (values: DictionaryFeatureProvider, madeUp: [String]) {
    var completed = values.dictionary
    var madeUp: [String] = []
    let made = try ModelError.wrapping { try loaded.madeUpValues(seed: seed, besides: values.featureNames) }
    for feature in function.inputs {
      guard let value = made[feature.name], completed[feature.name] == nil else { continue }
      completed[feature.name] = value
      let type = value.multiArrayValue.map { "\($0.tensor.type)" } ?? feature.typeText
      madeUp.append("input '\(feature.name)' is made up (\(type), seed \(seed))")
    }
    return (DictionaryFeatureProvider(dictionary: completed), madeUp)
  }
}
