package import Kelvin
package import KelvinEngine
package import KelvinImages
package import KelvinRuntime

/// A request whose model can also run by its other plans, such as those of a stream's governor.
package protocol PlannedRequest: ImageProcessingRequest {
  /// The model that the request runs.
  var model: Model { get }

  /// Returns the same request with another predictor of its model.
  func running(_ predictor: Predictor) -> Self

  /// Performs the request on an image in memory. Blocks the calling thread.
  ///
  /// - Throws: `VisionError`; `prediction` with code `predictionCancelled` after `cancellation`.
  func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> Result
}

extension ClassificationRequest: PlannedRequest {
  package func running(_ predictor: Predictor) -> Self {
    var request = self
    request.predictor = predictor.with(classifier.function)
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [ClassificationObservation] {
    try classify(image, orientation: orientation, cancellation)
  }
}

extension DetectionRequest: PlannedRequest {
  package func running(_ predictor: Predictor) -> Self {
    var request = self
    request.predictor = predictor.with(detector.function)
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [RecognizedObjectObservation] {
    try detect(image, orientation: orientation, cancellation)
  }
}

extension SegmentationRequest: PlannedRequest {
  package func running(_ predictor: Predictor) -> Self {
    var request = self
    request.predictor = predictor.with(segmenter.function)
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> SegmentationObservation {
    try segment(image, orientation: orientation, cancellation)
  }
}

extension PoseRequest: PlannedRequest {
  package func running(_ predictor: Predictor) -> Self {
    var request = self
    request.predictor = predictor.with(function)
    return request
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> [HumanBodyPoseObservation] {
    try poses(image, orientation: orientation, cancellation)
  }
}
