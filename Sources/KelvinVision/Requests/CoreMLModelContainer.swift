public import Kelvin
import KelvinGraph

/// A model for use with images.
public struct CoreMLModelContainer: Sendable {
  /// The model.
  public let model: Model
  /// The name of the input that takes the image.
  public let inputImageFeatureName: String
  /// The values for the model's other inputs.
  public let featureProvider: DictionaryFeatureProvider?
  let image: ImageFeature
  /// The precision and recall curves of the classes.
  let curves: PrecisionRecallCurves

  /// The share of a classifier's classes that have precision and recall curves, 0…1. Filters by precision or recall
  /// leave out all others.
  public var precisionRecallCurveShare: Double { curves.share(of: labels) }

  /// A remark for users of a filter by precision or recall; nil if all classes have curves.
  public var curveRemark: String? { curves.remark(about: labels) }

  private var labels: [String] { model.modelDescription.classLabels.map(\.description) }

  /// Creates a model for images, with an image input and values for the other inputs.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - inputImageFeatureName: The name of the image input; the model's first image input where nil.
  ///   - featureProvider: The values for the model's other inputs.
  /// - Throws: `VisionError.invalidModel` where the model has no image input of this name, or where its
  ///   ``PrecisionRecallCurves`` are not valid.
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
