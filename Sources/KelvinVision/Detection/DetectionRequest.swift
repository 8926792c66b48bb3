public import Kelvin
import KelvinEngine
package import KelvinRuntime

/// Says which objects an image shows and where, by a model that finds any number of them.
///
/// Unlike ``CoreMLRequest``, which knows pipelines that end in non-maximum suppression, this one also takes models whose
/// outputs a ``DetectionHead`` describes, and those whose outputs speak for themselves: boxes, scores and classes as
/// torchvision's and TensorFlow's detectors leave them, DETR's queries, and files of Ultralytics' exporter.
public struct DetectionRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: Model
  /// How an image is brought to the model's size: `scaleToFit` for YOLO's families, else `scaleToFill`.
  public var cropAndScaleAction: ImageCropAndScale
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Objects of which the model is less sure are left out, 0…1; nil for what the model or its head says.
  public var minimumConfidence: Float?
  /// Of two boxes whose shared area is more than this share of what they cover together, one is kept, 0…1; nil for what
  /// the model or its head says. A model that suppresses boxes itself and takes no such number keeps its own.
  public var maximumOverlap: Float?
  /// At most so many objects are kept, the surest; nil for what the head says.
  public var maximumObservationCount: Int?
  /// What to know of the answers.
  public var remarks: [String] { detector.remarks }
  /// The classes' names; nil where neither the model nor its head nor the request names them.
  public var labels: [String]? { detector.labels }

  private let detector: ImageDetector
  private let predictor: Predictor

  /// A request to find objects on whole images.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - head: how its outputs become boxes, where the model does not say.
  ///   - labels: the classes' names from class 0 on, in place of the model's own and the head's.
  ///   - normalization: how pixels enter a model whose input is a plain tensor, in place of what the head says.
  /// - Throws: `VisionError`: `invalidModel` for one that finds no objects, that needs a head, or whose outputs are not
  ///   what the head describes; `missingNormalization`; `invalidRequest` for a normalization that does not fit.
  public init(
    model: Model, head: DetectionHead? = nil, labels: [String]? = nil, normalization: PixelNormalization? = nil
  ) throws(VisionError) {
    self.model = model
    detector = try ImageDetector(model.loaded, head: head, labels: labels, normalization: normalization)
    cropAndScaleAction = detector.usualCropAndScale
    predictor = model.predictor(of: detector.function)
  }

  /// The objects on an image, the surest first.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image or a limit that is no share,
  ///   `prediction` where the model fails, `invalidModel` where its outputs are not what the head describes.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [RecognizedObjectObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.detect(image, orientation: orientation, cancellation)
    }
  }

  /// As the form that does not block the calling thread; this one does.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> [RecognizedObjectObservation] {
    try detect(image, orientation: orientation)
  }

  /// As `perform`. Blocks the calling thread.
  package func detect(
    _ image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> [RecognizedObjectObservation] {
    for (name, share) in [("confidence", minimumConfidence), ("overlap", maximumOverlap)] {
      guard let share, !(0...1).contains(share) else { continue }
      throw .invalidRequest("the limit of \(name) is \(share); expected 0 to 1")
    }
    let view = try ModelView(of: image, orientation, regionOfInterest, onto: detector.image, cropAndScaleAction)
    let limits = ImageDetector.Limits(
      confidence: minimumConfidence, overlap: maximumOverlap, count: maximumObservationCount.map { max($0, 0) })
    return try detector.detect(image, orientation, view, cropAndScaleAction, limits, by: predictor, cancellation)
  }
}
