public import FoundationEssentials
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
  /// Which device runs each operation, and why, for the model's usual input sizes.
  public let computePlan: ComputePlan
  /// What the user should know once: a stale profile, a cache that could not be written, operations that run outside
  /// the units asked for.
  public let remarks: [String]

  /// The function that predictions call, with its features in the model's own terms.
  package var function: Function { loaded.function }

  private let loaded: LoadedModel
  let binding: FeatureBinding
  private let standard: SessionPool
  let specializations: SpecializationCache<[String: Shape], SessionPool>

  /// Loads an `.mlpackage`, `.mlmodel` or `.onnx` and compiles it for the configuration's units. Blocks the calling
  /// thread.
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
    try self.init(contentsOf: url, configuration, .init(progress: progress))
  }

  private init(
    contentsOf url: URL, _ configuration: ModelConfiguration, _ observer: CompiledModel.Observer
  ) throws(ModelError) {
    let options = try configuration.options()
    (loaded, standard, computePlan) = try ModelError.wrapping {
      let loaded = try LoadedModel(path: url.path, options: options)
      if observer.isCancelled() { throw RuntimeError.cancelled }
      let explanation = try loaded.explain()
      return (
        loaded, SessionPool(try loaded.compile(explanation, observer: observer)), try ComputePlan(loaded, explanation)
      )
    }
    self.url = url
    self.configuration = configuration
    binding = FeatureBinding(function: loaded.function)
    modelDescription = ModelDescription(loaded.function, loaded.program.metadata)
    specializations = SpecializationCache(limit: configuration.optimizationHints.specializationLimit)
    remarks =
      loaded.remarks + computePlan.remarks
      + (loaded.context.cache?.directory.complaint.map { ["nothing is kept between runs: \($0)"] } ?? [])
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
    try await BlockingWork.run { (cancellation) throws(ModelError) -> Model in
      try Model(
        contentsOf: url, configuration, .init(progress: progress, isCancelled: { cancellation.isCancelled }))
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
    try predict(input, options, nil)
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
      try self.predict(input, options, cancellation)
    }
  }

  func predict(
    _ input: some FeatureProvider, _ options: PredictionOptions, _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    let values = try binding.values(input)
    let shapes = try binding.shapes(values)
    return try ModelError.wrapping {
      let pool = try pool(for: shapes, cancellation)
      let backings = try OutputBackings(options.outputBackings, binding, pool.model.graph)
      return try pool.withSession(backings.memory, cancellation) { session in
        try binding.write(values, to: session)
        try session.run(cancellation)
        return try binding.read(session, backings: backings)
      }
    }
  }

  /// The compiled form for these sizes, made at their first use and kept for the latest few.
  private func pool(for shapes: [String: Shape], _ cancellation: Cancellation?) throws -> SessionPool {
    let graph = standard.model.graph
    let isStandard = shapes.allSatisfy { name, shape in
      graph.inputs.contains { graph[$0].name == name && graph[$0].type.shape == shape }
    }
    if isStandard { return standard }
    return try specializations.value(for: shapes, cancellation) {
      let specialized = try loaded.with(shapes: shapes)
      let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
      return SessionPool(try specialized.compile(specialized.explain(), observer: observer))
    }
  }

  /// How many predictions of a batch are made at a time: one for each core, and one more where another device works
  /// while the host prepares the next.
  var batchWidth: Int {
    let usesOthers = Set(standard.model.placement.values).contains { $0 != standard.model.host }
    return min(SessionPool.limit, max(loaded.options.request.threads, 1) + (usesOthers ? 1 : 0))
  }
}
