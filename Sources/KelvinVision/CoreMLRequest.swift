public import Kelvin

/// A model for use with pictures.
public struct CoreMLModelContainer: Sendable {
  public let model: Model
  /// The input that takes the picture.
  public let inputImageFeatureName: String
  /// Values for the model's other inputs.
  public let featureProvider: DictionaryFeatureProvider?

  /// - Throws: `VisionError.invalidModel` where the model has no image input.
  public init(model: Model, featureProvider: DictionaryFeatureProvider? = nil) throws(VisionError) {
    let description = model.modelDescription
    guard let name = description.inputNames.first(where: { description.inputDescriptionsByName[$0]?.type == .image })
    else {
      let inputs = description.inputNames.map { "'\($0)'" }.joined(separator: ", ")
      throw .invalidModel("the model takes no picture; its inputs are \(inputs)")
    }
    self.model = model
    inputImageFeatureName = name
    self.featureProvider = featureProvider
  }
}

/// Runs a model on pictures, bringing them to the size it takes.
public struct CoreMLRequest: Sendable {
  public let model: CoreMLModelContainer
  /// How a picture is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill

  public init(model: CoreMLModelContainer) { self.model = model }

  /// What the model finds in a picture. For a classifier every class, the most probable first.
  ///
  /// - Parameter orientation: overrides the picture's own.
  /// - Throws: `VisionError`.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation = .up
  ) async throws(VisionError) -> [any VisionObservation] {
    var features = model.featureProvider?.dictionary ?? [:]
    features[model.inputImageFeatureName] = FeatureValue(
      image: image, orientation: orientation, cropAndScale: cropAndScaleAction)
    do throws(ModelError) {
      let provider = DictionaryFeatureProvider(dictionary: features)
      return observations(try await model.model.prediction(from: provider))
    } catch { throw .prediction(error) }
  }

  /// Vision's rule: a classifier's labels; else the pictures it makes; else its outputs as they are.
  private func observations(_ outputs: DictionaryFeatureProvider) -> [any VisionObservation] {
    let description = model.model.modelDescription
    if description.predictedFeatureName != nil {
      let probabilities = description.predictedProbabilitiesName.flatMap { outputs[$0]?.dictionaryValue } ?? [:]
      return
        probabilities
        .map { ClassificationObservation(identifier: $0.key.description, confidence: Float($0.value)) }
        .sorted { ($1.confidence, $0.identifier) < ($0.confidence, $1.identifier) }
    }
    let names = description.outputNames.filter { outputs[$0] != nil }
    let pictures = names.compactMap { name in
      outputs[name]?.imageBufferValue.map { PixelBufferObservation(featureName: name, pixelBuffer: $0) }
    }
    if !pictures.isEmpty { return pictures }
    return names.compactMap { name in
      outputs[name].map { CoreMLFeatureValueObservation(featureName: name, featureValue: $0) }
    }
  }
}

/// A picture could not be analysed.
public enum VisionError: Error, Sendable, CustomStringConvertible {
  case invalidModel(String)
  case image(ImageError)
  case prediction(ModelError)

  public var description: String {
    switch self {
    case .invalidModel(let reason): reason
    case .image(let error): "\(error)"
    case .prediction(let error): error.description
    }
  }
}
