import Kelvin
import Synchronization

/// A class that computes a custom model. A model's file names the class; see ``MLModel/register(_:className:)``.
///
/// Predictions call one model's methods one at a time.
public protocol MLCustomModel: AnyObject {
  /// Creates a model with the parameters of the file: numbers, strings, truth values and `Data`.
  init(modelDescription: MLModelDescription, parameters: [String: Any]) throws
  /// Returns the outputs of one prediction.
  func prediction(from input: any MLFeatureProvider, options: MLPredictionOptions) throws -> any MLFeatureProvider
  /// Returns the outputs of several predictions. Kelvin calls `prediction(from:options:)` instead.
  func predictions(from inputBatch: any MLBatchProvider, options: MLPredictionOptions) throws -> any MLBatchProvider
}

extension MLCustomModel {
  public func predictions(
    from inputBatch: any MLBatchProvider, options: MLPredictionOptions
  ) throws -> any MLBatchProvider {
    MLArrayBatchProvider(
      array: try (0..<inputBatch.count).map { try prediction(from: inputBatch.features(at: $0), options: options) })
  }
}

/// A custom model for Kelvin.
final class RegisteredModel: CustomModel {
  private let model: Mutex<any MLCustomModel>

  init(_ type: any MLCustomModel.Type, _ description: CustomCodeDescription) throws {
    guard let features = description.modelDescription else {
      throw MLModelError(.customModel, "class \(description.className): the model has no description")
    }
    nonisolated(unsafe) let model: any MLCustomModel = try type.init(
      modelDescription: MLModelDescription(features), parameters: description.parameters.mapValues(\.object))
    self.model = Mutex(model)
  }

  func prediction(from input: any FeatureProvider) throws -> any FeatureProvider {
    try model.withLock { model in
      try model.prediction(from: MLDictionaryFeatureProvider(input), options: MLPredictionOptions()).kelvin
    }
  }
}
