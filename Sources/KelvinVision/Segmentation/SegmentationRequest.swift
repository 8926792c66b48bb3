public import Kelvin
import KelvinEngine
package import KelvinRuntime

/// Says which part of an image is what, by a model that gives every place a class.
///
/// Names and colours come from the model's metadata, under the keys that Core ML's previews use; a model without them
/// gets colours that stay apart for every kind of colour vision.
public struct SegmentationRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: Model
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// What to know of the model: metadata that cannot be read.
  public var remarks: [String] { segmenter.remarks }

  private(set) var segmenter: ImageSegmenter
  private let predictor: Predictor

  /// A request to segment whole images.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - output: the output with the classes; nil for the only one that can be meant.
  ///   - labels: the classes' names from class 0 on, in place of the model's own.
  ///   - normalization: how pixels enter a model whose input is a plain tensor.
  ///   - colors: what the classes are drawn in, as `#RRGGBB` from class 0 on, in place of the model's own; an empty text
  ///     leaves a class the colour that it would have without any.
  /// - Throws: `VisionError`: `invalidModel` for one that does not segment images; `missingNormalization`;
  ///   `invalidRequest` for a normalization that does not fit, or a colour that is none.
  public init(
    model: Model, output: String? = nil, labels: [String]? = nil, normalization: PixelNormalization? = nil,
    colors: [String]? = nil
  ) throws(VisionError) {
    self.model = model
    segmenter = try ImageSegmenter(
      model.loaded, output: output, labels: labels, colors: colors, normalization: normalization)
    predictor = model.predictor(of: segmenter.function)
  }

  /// From here on, answers are about the classes with these labels alone; see
  /// ``SegmentationObservation/restricted(to:)``.
  ///
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it names the one that is nearest.
  public mutating func restrict(to labels: [String]) throws(VisionError) {
    segmenter.chosen = try segmenter.indices(of: labels)
  }

  /// The class of each pixel of the upright image.
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

  /// As the form that does not block the calling thread; this one does.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> SegmentationObservation {
    try segment(image, orientation: orientation)
  }

  /// As `perform`. Blocks the calling thread.
  package func segment(
    _ image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> SegmentationObservation {
    try segmenter.segment(
      image, orientation, region: try regionOfInterest.pixels(of: image, orientation), cropAndScaleAction,
      by: predictor, cancellation)
  }
}
