public import FoundationEssentials
package import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// A model, loaded, placed on devices and ready to predict.
///
/// A model is used from any number of tasks at once: every prediction borrows buffers of its own.
///
/// ```swift
/// let model = try await Model.load(contentsOf: URL(filePath: "Digits.mlpackage"))
/// let input = DictionaryFeatureProvider(dictionary: ["image": try FeatureValue(imageAt: URL(filePath: "seven.png"))])
/// print(try await model.prediction(from: input)["classLabel"]?.stringValue ?? "nothing")
/// ```
public final class Model: Sendable {
  /// What the model takes and gives.
  public let modelDescription: ModelDescription
  public let configuration: ModelConfiguration
  /// Which device runs each operation, and why, for the model's usual input sizes.
  public let computePlan: ComputePlan
  /// What the user should know once: a stale profile, a cache that could not be written.
  public let remarks: [String]

  /// The function that predictions call, with its features in the model's own terms.
  package var function: Function { loaded.function }

  private let loaded: LoadedModel
  private let binding: FeatureBinding
  private let standard: SessionPool
  private let specializations = Mutex<[(shapes: [String: Shape], pool: SessionPool)]>([])
  private static let specializationLimit = 8

  /// Loads an `.mlpackage`, `.mlmodel` or `.onnx` and compiles it for the configuration's units.
  ///
  /// - Parameter progress: told how much of the work is done, 0…1, on the calling thread.
  /// - Throws: `ModelError`: the file's fault (`io`), something Kelvin lacks (`unsupported`, all of it listed), or a
  ///   configuration that does not fit.
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
        loaded, SessionPool(try loaded.compile(explanation, observer: observer)), ComputePlan(loaded, explanation)
      )
    }
    self.configuration = configuration
    binding = FeatureBinding(function: loaded.function)
    modelDescription = ModelDescription(loaded.function, loaded.program.metadata)
    remarks =
      loaded.remarks + (loaded.context.cache?.directory.complaint.map { ["nothing is kept between runs: \($0)"] } ?? [])
  }

  /// Loads a model without blocking the calling task's thread. Cancelling the task ends the loading.
  ///
  /// - Throws: `ModelError`; `predictionCancelled` where the task was cancelled.
  public static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration(),
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> Model {
    let isCancelled = CancellationFlag()
    return try await isCancelled.following { () async throws(ModelError) -> Model in
      try await BlockingWork.run { () throws(ModelError) -> Model in
        try Model(
          contentsOf: url, configuration, .init(progress: progress, isCancelled: { isCancelled.isSet }))
      }
    }
  }

  /// The devices that models may use on this machine.
  public static var availableComputeDevices: [ComputeDevice] { ComputeDevice.allComputeDevices }

  /// One prediction. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` with code `featureType` naming an input that is missing, unknown or does not fit; `device`
  ///   where a device failed.
  public func prediction(from input: some FeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
    let pool = try pool(for: binding.shapes(input))
    return try ModelError.wrapping {
      try pool.withSession { session in
        try binding.write(input, to: session)
        try session.run()
        return binding.read(session)
      }
    }
  }

  /// One prediction, without blocking the calling task's thread.
  ///
  /// - Throws: `ModelError` as the blocking form does.
  public func prediction(from input: some FeatureProvider) async throws(ModelError) -> DictionaryFeatureProvider {
    try await BlockingWork.run { () throws(ModelError) -> DictionaryFeatureProvider in
      try self.prediction(from: input)
    }
  }

  /// The compiled form for these sizes, made at their first use and kept for the latest few.
  private func pool(for shapes: [String: Shape]) throws(ModelError) -> SessionPool {
    let graph = standard.model.graph
    let isStandard = shapes.allSatisfy { name, shape in
      graph.inputs.contains { graph[$0].name == name && graph[$0].type.shape == shape }
    }
    if isStandard { return standard }
    if let known = specializations.withLock({ all in all.first { $0.shapes == shapes }?.pool }) { return known }
    let pool = try ModelError.wrapping {
      let specialized = try loaded.with(shapes: shapes)
      return SessionPool(try specialized.compile(specialized.explain()))
    }
    specializations.withLock { all in
      if all.count >= Self.specializationLimit { all.removeFirst() }
      all.append((shapes, pool))
    }
    return pool
  }
}
