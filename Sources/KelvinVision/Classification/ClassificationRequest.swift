public import Kelvin
import KelvinEngine
package import KelvinRuntime

/// Says what an image shows, by a model that takes one image and gives one number for each class.
///
/// Unlike ``CoreMLRequest``, which takes a model at its word, this one also takes models that say neither that they are
/// classifiers nor how pixels enter them: a plain tensor input by a ``PixelNormalization``, and the output with one
/// number for each class, whose softmax is taken where it holds scores.
public struct ClassificationRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: Model
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .centerCrop
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// What to know of the answers: that confidences are the softmax of scores.
  public var remarks: [String] { classifier.remarks }

  /// Whether the model says what precision and recall its classes have.
  public var hasPrecisionRecallCurves: Bool { !curves.byLabel.isEmpty }

  private let curves: PrecisionRecallCurves

  private let classifier: ImageClassifier
  private let predictor: Predictor

  /// A request to classify whole images.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - labels: the classes' names, in place of the model's own; their numbers where neither says.
  ///   - normalization: how pixels enter a model whose input is a plain tensor.
  ///   - curves: what precision and recall the classes have, in place of what the model says.
  /// - Throws: `VisionError`: `invalidModel` for one that does not classify images, or that has not as many classes
  ///   as there are labels; `missingNormalization`; `invalidRequest` for a normalization that does not fit.
  public init(
    model: Model, labels: [String]? = nil, normalization: PixelNormalization? = nil,
    curves: PrecisionRecallCurves? = nil
  ) throws(VisionError) {
    self.model = model
    classifier = try ImageClassifier(model.loaded, labels: labels, normalization: normalization)
    self.curves = if let curves { curves } else { try PrecisionRecallCurves(of: model, own: classifier.ownCurves) }
    predictor = model.predictor(of: classifier.function)
  }

  /// Every class, the most probable first; of classes that share a label, the larger one.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [ClassificationObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.classify(image, orientation: orientation, cancellation)
    }
  }

  /// As the form that does not block the calling thread; this one does.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> [ClassificationObservation] {
    try classify(image, orientation: orientation)
  }

  /// As `perform`. Blocks the calling thread.
  package func classify(
    _ image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> [ClassificationObservation] {
    let region = try regionOfInterest.pixels(of: image, orientation)
    do throws(ModelError) {
      return try classifier.classify(
        image, orientation, region: region, cropAndScaleAction, by: predictor, cancellation
      ).map {
        ClassificationObservation(
          identifier: $0.label, confidence: Float($0.confidence), curve: curves.byLabel[$0.label])
      }
    } catch { throw .prediction(error) }
  }
}
