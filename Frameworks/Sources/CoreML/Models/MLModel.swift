public import Foundation
public import Kelvin

/// A model that is loaded and ready to predict. Any number of threads may use it at once.
open class MLModel: NSObject, @unchecked Sendable {
  /// Kelvin's model.
  public let kelvin: Model
  /// The options that the model was loaded with.
  public let configuration: MLModelConfiguration

  /// Creates a model from one of Kelvin's.
  public init(_ model: Model, configuration: MLModelConfiguration = MLModelConfiguration()) {
    kelvin = model
    self.configuration = configuration
  }

  /// Loads a model: `.mlmodelc`, `.mlpackage`, `.mlmodel` or `.onnx`. Blocks the calling thread.
  ///
  /// - Throws: `MLModelError`: `io` if the file cannot be read or is not a model, `generic` if it needs features that
  ///   Kelvin does not support, `parameters` if the configuration does not fit.
  public init(contentsOf url: URL, configuration: MLModelConfiguration) throws {
    kelvin = try MLModelError.wrapping { () throws(ModelError) in
      try Model(contentsOf: url, configuration: configuration.kelvin)
    }
    self.configuration = configuration
  }

  /// Loads a model with the default configuration. Blocks the calling thread.
  ///
  /// - Throws: as `init(contentsOf:configuration:)`.
  public convenience init(contentsOf url: URL) throws {
    try self.init(contentsOf: url, configuration: MLModelConfiguration())
  }

  /// The description of the model's inputs, outputs and states.
  public var modelDescription: MLModelDescription { MLModelDescription(kelvin.modelDescription) }

  /// The devices of this machine that models may use.
  public class var availableComputeDevices: [MLComputeDevice] { MLComputeDevice.allComputeDevices }
}

extension MLModel {
  /// Loads a model. Cancelling the task ends the loading.
  ///
  /// - Throws: as `init(contentsOf:configuration:)`.
  public class func load(
    contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration()
  ) async throws -> MLModel {
    do throws(ModelError) {
      return MLModel(
        try await Model.load(contentsOf: url, configuration: configuration.kelvin), configuration: configuration)
    } catch { throw MLModelError(error) }
  }

  /// Loads a model and calls `handler` on another thread.
  public class func load(
    contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration(),
    completionHandler handler: @escaping (Result<MLModel, any Error>) -> Void
  ) {
    answer(handler) { try await load(contentsOf: url, configuration: configuration) }
  }

  /// Loads an asset's model.
  ///
  /// - Throws: as `init(contentsOf:configuration:)`.
  public class func load(
    asset: MLModelAsset, configuration: MLModelConfiguration = MLModelConfiguration()
  ) async throws -> MLModel {
    do throws(ModelError) {
      return MLModel(
        try await Model.load(asset: asset.kelvin, configuration: configuration.kelvin), configuration: configuration)
    } catch { throw MLModelError(error) }
  }

  /// Loads an asset's model and calls `handler` on another thread.
  public class func load(
    asset: MLModelAsset, configuration: MLModelConfiguration = MLModelConfiguration(),
    completionHandler handler: @escaping (MLModel?, (any Error)?) -> Void
  ) {
    answer({ handler(try? $0.get(), $0.failure) }) { try await load(asset: asset, configuration: configuration) }
  }
}

/// Calls `handler` with the result of `work`, on another thread.
func answer<Value: Sendable>(
  _ handler: @escaping (Result<Value, any Error>) -> Void, _ work: @escaping @Sendable () async throws -> Value
) {
  nonisolated(unsafe) let handler = handler
  Task {
    let result: Result<Value, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    // A handler may block, which tasks must not.
    DispatchQueue.global().async { handler(result) }
  }
}

extension Result {
  /// The error; nil for success.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
