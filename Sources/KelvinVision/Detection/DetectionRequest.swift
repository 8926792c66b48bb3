public import Kelvin
import KelvinEngine
package import KelvinRuntime

/// A request that detects objects and their boxes in an image.
///
/// ``CoreMLRequest`` supports pipelines that end in non-maximum suppression. This request also supports models whose
/// outputs a ``DetectionHead`` describes, and models whose outputs are recognized: boxes, scores and classes in the
/// layout of torchvision's and TensorFlow's detectors, DETR's queries, and files of Ultralytics' exporter.
public struct DetectionRequest: ImageProcessingRequest {
  /// The model that the request runs.
  public let model: Model
  /// The method that fits an image to the model's input size: `scaleToFit` for YOLO families, else `scaleToFill`.
  public var cropAndScaleAction: ImageCropAndScale
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage
  /// The smallest confidence of an object that is kept, 0…1; nil for the limit of the model or its head.
  public var minimumConfidence: Float?
  /// The largest intersection over union of two objects that are both kept, 0…1; nil for the limit of the model or its
  /// head. A model that suppresses boxes itself and has no input for the limit uses its own.
  public var maximumOverlap: Float?
  /// The largest number of objects that are kept, the most confident first; nil for the head's limit.
  public var maximumObservationCount: Int?
  /// Remarks about the answers.
  public var remarks: [String] { detector.remarks }
  /// The names of the classes; nil where neither the request nor the head nor the model names them.
  public var labels: [String]? { detector.labels }

  var detector: ImageDetector
  var predictor: Predictor

  /// Creates a request for whole images.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - head: The description of the model's outputs, for a model that does not describe them itself.
  ///   - labels: The names of the classes from class 0 on, in place of the model's own and the head's.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor, in place of the head's.
  /// - Throws: `VisionError`: `invalidModel` for a model that does not detect objects, that needs a head, or whose
  ///   outputs do not match the head; `missingNormalization`; `invalidRequest` for an unsuitable normalization.
  public init(
    model: Model, head: DetectionHead? = nil, labels: [String]? = nil, normalization: PixelNormalization? = nil
  ) throws(VisionError) {
    self.model = model
    detector = try ImageDetector(model.loaded, head: head, labels: labels, normalization: normalization)
    cropAndScaleAction = detector.usualCropAndScale
    predictor = model.predictor(of: detector.function)
  }

  /// Detects the objects in an image, the most confident first.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image or a limit outside 0…1, `prediction`
  ///   where the model fails, `invalidModel` where its outputs do not match the head.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [RecognizedObjectObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.detect(image, orientation: orientation, cancellation)
    }
  }

  /// Detects the objects in an image, as the asynchronous variant does. Blocks the calling thread.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError)
    -> [RecognizedObjectObservation]
  {
    try detect(image, orientation: orientation)
  }

  /// Detects the objects in an image, as `perform` does. Blocks the calling thread.
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
