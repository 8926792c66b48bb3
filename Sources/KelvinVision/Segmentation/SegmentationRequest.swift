public import Kelvin
import KelvinEngine
package import KelvinRuntime

/// A request that determines the class of each pixel of an image (semantic segmentation).
///
/// Names and colours come from the model's metadata, under the keys of Core ML's previews. Classes without a colour get
/// one from a palette that is distinguishable for every kind of colour vision.
public struct SegmentationRequest: ImageProcessingRequest {
  /// The model that the request runs.
  public let model: Model
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Remarks about the model, such as unreadable metadata.
  public var remarks: [String] { segmenter.remarks }

  package internal(set) var segmenter: ImageSegmenter
  var predictor: Predictor

  /// Creates a request for whole images.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - output: The name of the output with the classes; nil where it can be inferred.
  ///   - labels: The names of the classes from class 0 on, in place of the model's own.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  ///   - colors: The colours of the classes as `#RRGGBB` from class 0 on, in place of the model's own. An empty string
  ///     selects the default colour.
  /// - Throws: `VisionError`: `invalidModel` for a model that does not segment images; `missingNormalization`;
  ///   `invalidRequest` for an unsuitable normalization or an invalid colour.
  public init(
    model: Model, output: String? = nil, labels: [String]? = nil, normalization: PixelNormalization? = nil,
    colors: [String]? = nil
  ) throws(VisionError) {
    self.model = model
    segmenter = try ImageSegmenter(
      model.loaded, output: output, labels: labels, colors: colors, normalization: normalization)
    predictor = model.predictor(of: segmenter.function)
  }

  /// Restricts further answers to the classes with these labels; see ``SegmentationObservation/restricted(to:)``.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it suggests the most similar label.
  public mutating func restrict(to labels: [String]) throws(VisionError) {
    segmenter.chosen = try segmenter.indices(of: labels)
  }

  /// Determines the class of each pixel of the upright image.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails,
  ///   `invalidModel` for a class beyond 254.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> SegmentationObservation {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.segment(image, orientation: orientation, cancellation)
    }
  }

  /// Segments an image, as the asynchronous variant does. Blocks the calling thread.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError)
    -> SegmentationObservation
  {
    try segment(image, orientation: orientation)
  }

  /// Segments an image, as `perform` does. Blocks the calling thread.
  package func segment(
    _ image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> SegmentationObservation {
    let view = try ModelView(of: image, orientation, regionOfInterest, onto: segmenter.image, cropAndScaleAction)
    return try segmenter.segment(image, orientation, view, cropAndScaleAction, by: predictor, cancellation)
  }
}
