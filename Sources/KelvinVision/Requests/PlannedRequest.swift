package import Kelvin
package import KelvinEngine
package import KelvinGraph
package import KelvinImages
package import KelvinRuntime

/// A request whose model can also run by its other plans, such as those of a stream's governor.
package protocol PlannedRequest: ImageProcessingRequest {
  /// The model that the request runs.
  var model: Model { get }
  /// The model's input that takes the image.
  var imageInput: ImageFeature { get }

  /// Returns the same request with another predictor of its model.
  ///
  /// - Parameter size: the largest size of the images that the model sees; nil for no limit.
  func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self

  /// Performs the request on an image in memory. Blocks the calling thread.
  ///
  /// - Throws: `VisionError`; `prediction` with code `predictionCancelled` after `cancellation`.
  func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> Result
}

extension Function {
  fileprivate func upTo(_ size: ImageFeature.Size?) -> Function { size.map(limitingImages) ?? self }
}

extension ClassificationRequest: PlannedRequest {
  package var imageInput: ImageFeature { classifier.image }

  package func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self {
    var request = self
    request.predictor = predictor.with(classifier.function.upTo(size))
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [ClassificationObservation] {
    try classify(image, orientation: orientation, cancellation)
  }
}

extension DetectionRequest: PlannedRequest {
  package var imageInput: ImageFeature { detector.image }

  package func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self {
    var request = self
    request.detector.image = size.map(detector.image.limited) ?? detector.image
    request.predictor = predictor.with(detector.function.upTo(size))
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [RecognizedObjectObservation] {
    try detect(image, orientation: orientation, cancellation)
  }
}

extension SegmentationRequest: PlannedRequest {
  package var imageInput: ImageFeature { segmenter.image }

  package func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self {
    var request = self
    request.segmenter.image = size.map(segmenter.image.limited) ?? segmenter.image
    request.predictor = predictor.with(segmenter.function.upTo(size))
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> SegmentationObservation {
    try segment(image, orientation: orientation, cancellation)
  }
}

extension PoseRequest: PlannedRequest {
  package var imageInput: ImageFeature { image }

  package func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self {
    var request = self
    request.image = size.map(image.limited) ?? image
    request.predictor = predictor.with(function.upTo(size))
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [HumanBodyPoseObservation] {
    try poses(image, orientation: orientation, cancellation)
  }
}
