public import FoundationEssentials
import KelvinBasics
package import KelvinEngine
public import KelvinFeatures
package import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// A model, loaded, placed on devices and ready to predict.
///
/// A model is used from any number of tasks at once: every prediction borrows buffers of its own, and waits where as
/// many as a model keeps are in use. Models of one process share its devices and its CPU threads.
///
/// ```swift
/// let model = try await Model.load(contentsOf: URL(filePath: "Digits.mlpackage"))
/// let input = DictionaryFeatureProvider(dictionary: ["image": try FeatureValue(imageAt: URL(filePath: "seven.png"))])
/// print(try await model.prediction(from: input)["classLabel"]?.stringValue ?? "nothing")
/// ```
public final class Model: Sendable {
  /// What the model takes and gives.
  public let modelDescription: ModelDescription
  /// The file or package that the model was loaded from.
  public let url: URL
  /// How the model was loaded.
  public let configuration: ModelConfiguration
  /// Which device runs each operation, and why, for the model's usual input sizes: of the devices that can still be
  /// relied on, where some failed since the model was loaded.
  public var computePlan: ComputePlan { standing.plan(of: predictor.loaded) }
  /// What the user should know once: a stale profile, a cache that could not be written, operations that run outside
  /// the units asked for, devices that failed and what runs in their place.
  public var remarks: [String] { computePlan.remarks + loadRemarks }
  private let loadRemarks: [String]
  private let standing: ActivePlan

  /// The function that predictions call, with its features in the model's own terms.
  package var function: Function { predictor.loaded.function }

  let predictor: Predictor

  /// The model as commands load it.
  package var loaded: LoadedModel { predictor.loaded }

  /// Bytes of the files that the model was read from, weights included.
  package var fileByteCount: Int {
    loaded.program.source.files.reduce(0) { $0 + ((try? OpenFile($1))?.byteCount ?? 0) }
  }

  /// What predictions of other sizes than the usual ones have cost since the model was loaded.
  public struct SizeCosts: Hashable, Sendable {
    /// How often a plan was searched for: sizes up to the same power of two share one.
    public let plans: Int
    /// How often the model was compiled: for each size at its first use, and again where it was let go meanwhile.
    public let compilations: Int
  }

  /// What predictions of other sizes than the usual ones have cost so far.
  public var sizeCosts: SizeCosts {
    let counts = predictor.specializationCounts
    return SizeCosts(plans: counts.plans, compilations: counts.compilations)
  }

  /// What to say of the devices that failed and that the model could have used.
  package var outages: [String] { predictor.loaded.fallback.remarks }

  /// Predicts with other features or host steps around the same graphs, in the memory that this model has.
  package func predictor(of function: Function) -> Predictor { predictor.with(function) }

  /// Loads an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx` and compiles it for the configuration's units. Blocks the
  /// calling thread.
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run.
  ///   - progress: told how much of the work is done, 0…1, on the calling thread.
  /// - Throws: `ModelError`: the file's fault (`io`), something Kelvin lacks (`unsupported`, all of it listed), or a
  ///   configuration that does not fit (`parameters`).
  public convenience init(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws(ModelError) {
    let budget = configuration.budget
    try self.init(
      ReadModel(contentsOf: url, allowsLinks: configuration.allowsLinks, budget), configuration,
      .init(progress: progress), budget)
  }

  /// Compiles a model that has been read for the configuration's units. Blocks the calling thread.
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
    let options = try configuration.options()
    let limit = configuration.optimizationHints.specializationLimit
    let unproven: [String]
    (predictor, standing, unproven) = try ModelError.wrapping(within: budget) {
      let loaded = try LoadedModel(program: file.program, options: options)
      if observer.isCancelled() { throw RuntimeError.cancelled }
      return try loaded.fallback.withFallback { _ in
        let plans = try TrialedPlans(loaded)
        let compiled = try loaded.compile(plans.shown, observer: observer)
        let graphs = try loaded.compiledGraphs(compiled, plans.graphs, observer: observer)
        return (
          Predictor(loaded, graphs, specializationLimit: limit),
          ActivePlan(try ComputePlan(loaded, plans.all), of: loaded),
          plans.remarks
        )
      }
    }
    let loaded = predictor.loaded
    url = file.url
    self.configuration = configuration
    modelDescription = ModelDescription(loaded.function, loaded.program.metadata)
    loadRemarks = loaded.remarks + unproven + loaded.cacheRemarks
  }

  /// Loads a model without blocking the calling task's thread. Cancelling the task ends the loading.
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run.
  ///   - progress: told how much of the work is done, 0…1, on another thread.
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does; `predictionCancelled` where the task was
  ///   cancelled.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> Model {
    try await load(ModelAsset(url: url, allowsLinks: configuration.allowsLinks), configuration, progress: progress)
  }

  /// As the public forms, links as the asset has them.
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

  /// As the public forms, of a file that has been read.
  package static func load(
    _ file: ReadModel, _ configuration: ModelConfiguration
  ) async throws(ModelError) -> Model {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Model in
      try Model(file, configuration, .init(isCancelled: { cancellation.isCancelled }), configuration.budget)
    }
  }

  /// The devices that models may use on this machine.
  public static var availableComputeDevices: [ComputeDevice] { ComputeDevice.allComputeDevices }

  /// One prediction. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` with code `featureType` naming an input that is missing, unknown or does not fit, or a
  ///   backing that does not fit its output; `device` where a device failed.
  public func prediction(
    from input: some FeatureProvider, options: PredictionOptions = PredictionOptions()
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try predictor.predict(input, options.outputBackings, nil)
  }

  /// One prediction, without blocking the calling task's thread.
  ///
  /// Cancelling the task ends the prediction: before it begins, between two operations on the CPU, or once the devices
  /// at work have finished what they were given. The model can be used as before.
  ///
  /// - Throws: `ModelError` as the blocking form does; `predictionCancelled` where the task was cancelled.
  public func prediction(
    from input: some FeatureProvider, options: PredictionOptions = PredictionOptions()
  ) async throws(ModelError) -> DictionaryFeatureProvider {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> DictionaryFeatureProvider in
      try self.predictor.predict(input, options.outputBackings, cancellation)
    }
  }
}

extension Model {
  /// One prediction, from states of zeros where the model has some, and the seconds that its graphs took. Blocks the
  /// calling thread.
  ///
  /// - Throws: `ModelError` as `prediction(from:options:)` does.
  package func timedPrediction(
    from input: some FeatureProvider
  ) throws(ModelError) -> (features: DictionaryFeatureProvider, seconds: Double) {
    let result =
      predictor.states.isEmpty ? try predictor.run(input) : try predictor.run(input, using: predictor.makeState())
    return (result.features, result.seconds)
  }

  /// The same values, and made-up ones for the inputs that the model needs and that have none, the same for the same
  /// seed; with the names and types of those, in words.
  ///
  /// - Throws: `ModelError` with code `device` where the host has no memory for them.
  package func completed(
    _ values: DictionaryFeatureProvider, seed: UInt64
  ) throws(ModelError) -> (values: DictionaryFeatureProvider, madeUp: [String]) {
    var completed = values.dictionary
    var madeUp: [String] = []
    for graph in loaded.graphs.compactMap({ $0?.context.graph }) {
      let tensors = try ModelError.wrapping {
        try madeUpInputs(for: graph, features: function.inputs, seed: seed)
      }
      for (id, tensor) in zip(graph.inputs, tensors) {
        let feature = function.inputs.first { $0.name == graph[id].name }
        guard let feature, completed[feature.name] == nil, !feature.isOptional, feature.defaultValue == nil else {
          continue
        }
        completed[feature.name] = FeatureValue(multiArray: MultiArray(tensor))
        madeUp.append("input '\(feature.name)' is made up (\(tensor.type), seed \(seed))")
      }
    }
    return (DictionaryFeatureProvider(dictionary: completed), madeUp)
  }
}
