public import Kelvin
import KelvinGraph

/// A model for use with images.
public struct CoreMLModelContainer: Sendable {
  /// The model.
  public let model: Model
  /// The input that takes the image.
  public let inputImageFeatureName: String
  /// Values for the model's other inputs.
  public let featureProvider: DictionaryFeatureProvider?
  let image: ImageFeature
  /// What precision and recall classes have.
  let curves: PrecisionRecallCurves

  /// A model with the input that takes images, and values for its other inputs.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - inputImageFeatureName: the image input to use; the model's first where nil.
  ///   - featureProvider: values for the model's other inputs.
  /// - Throws: `VisionError.invalidModel` where the model has no image input, or none of that name, or where
  ///   its ``PrecisionRecallCurves`` cannot be read.
  public init(
    model: Model, inputImageFeatureName: String? = nil, featureProvider: DictionaryFeatureProvider? = nil
  ) throws(VisionError) {
    let images = model.function.inputs.compactMap { feature in
      if case .image(let image) = feature.type { (feature.name, image) } else { nil }
    }
    guard let (name, image) = images.first(where: { inputImageFeatureName == nil || $0.0 == inputImageFeatureName })
    else {
      let inputs = model.modelDescription.inputNames.map { "'\($0)'" }.joined(separator: ", ")
      let wanted = inputImageFeatureName.map { " as '\($0)'" } ?? ""
      throw .invalidModel("the model takes no image\(wanted); its inputs are \(inputs)")
    }
    self.model = model
    curves = try PrecisionRecallCurves(of: model, own: model.modelDescription.precisionRecallCurves)
    self.inputImageFeatureName = name
    self.image = image
    self.featureProvider = featureProvider
  }
}
