public import Kelvin
import KelvinBasics
import KelvinEngine
package import KelvinRuntime

/// A request that classifies an image, by a model with one image input and one number for each class.
///
/// ``CoreMLRequest`` requires a model that declares itself a classifier with an image input. This request also supports
/// models without these declarations. A ``PixelNormalization`` maps pixels to a plain tensor input. The output with one
/// number for each class is used, with softmax where it holds scores.
public struct ClassificationRequest: ImageProcessingRequest {
  /// The model that the request runs.
  public let model: Model
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .centerCrop
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Remarks about the answers, such as that confidences are the softmax of scores.
  public var remarks: [String] { classifier.remarks }

  /// Whether the model has precision and recall curves for its classes.
  public var hasPrecisionRecallCurves: Bool { !curves.byLabel.isEmpty }

  /// The share of the classes that have precision and recall curves, 0…1. Filters by precision or recall leave out all
  /// others.
  public var precisionRecallCurveShare: Double { curves.share(of: classifier.labels) }

  /// A remark for users of a filter by precision or recall; nil if all classes have curves.
  public var curveRemark: String? { curves.remark(about: classifier.labels) }

  private let curves: PrecisionRecallCurves

  let classifier: ImageClassifier
  var predictor: Predictor

  /// Creates a request for whole images.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - labels: The names of the classes, in place of the model's own. Without either, classes are named by their
  ///     indices.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  ///   - curves: The precision and recall curves of the classes, in place of the model's.
  /// - Throws: `VisionError`: `invalidModel` for a model that does not classify images, or whose number of classes
  ///   differs from the number of labels; `missingNormalization`; `invalidRequest` for an unsuitable normalization.
  public init(
    model: Model, labels: [String]? = nil, normalization: PixelNormalization? = nil,
    curves: PrecisionRecallCurves? = nil
  ) throws(VisionError) {
    self.model = model
    classifier = try ImageClassifier(model.loaded, labels: labels, normalization: normalization)
    self.curves = if let curves { curves } else { try PrecisionRecallCurves(of: model, own: classifier.ownCurves) }
    predictor = model.predictor(of: classifier.function)
  }

  /// Classifies an image and returns every class, the most probable first. Of classes that share a label, the larger
  /// probability is returned.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [ClassificationObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.classify(image, orientation: orientation, cancellation)
    }
  }

  /// Classifies an image, as the asynchronous variant does. Blocks the calling thread.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError)
    -> [ClassificationObservation]
  {
    try classify(image, orientation: orientation)
  }

  /// Classifies an image, as `perform` does. Blocks the calling thread.
  package func classify(
    _ image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> [ClassificationObservation] {
    let region = try regionOfInterest.pixels(of: image, orientation)
    do throws(ModelError) {
      return try classifier.classify(
        image, orientation, region: region, cropAndScaleAction, by: predictor, cancellation
      ).map {
        ClassificationObservation(
          identifier: $0.label, confidence: Float($0.confidence), curve: curves.byLabel[ExactString($0.label)])
      }
    } catch { throw .prediction(error) }
  }
}
