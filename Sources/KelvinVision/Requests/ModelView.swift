import Kelvin
import KelvinGraph
import KelvinHostOperations
import KelvinImages

/// The part of an image that a model sees, and its placement in the model's input.
struct ModelView {
  /// The size of the model's input for this image.
  let target: ImageFeature.Size
  /// The part of the upright image that the model sees; nil for all.
  let cropRect: PixelRect?
  private let imageSize: ImageSize
  private let placement: ImagePlacement

  /// - Throws: `invalidRequest` for a region that has no area or is outside the image.
  init(
    of pixels: PixelBuffer, _ orientation: ImageOrientation, _ regionOfInterest: NormalizedRect,
    onto image: ImageFeature, _ action: ImageCropAndScale
  ) throws(VisionError) {
    imageSize = ImageSize(pixels, orientation)
    cropRect = try regionOfInterest.pixels(of: pixels, orientation)
    let region = cropRect ?? PixelRect(x: 0, y: 0, width: imageSize.width, height: imageSize.height)
    let drawn = action.rotates ? (region.height, region.width) : (region.width, region.height)
    target = image.nearestSize(to: ImageFeature.Size(width: drawn.0, height: drawn.1))
    placement = ImagePlacement(region: region, width: target.width, height: target.height, action)
  }

  /// Converts a box in pixels of the model's input, from the top left, to the whole upright image.
  func imageBox(_ box: CenteredBox) -> NormalizedRect {
    let a = placement.imagePoint(targetX: box.x - box.width / 2, targetY: box.y - box.height / 2)
    let b = placement.imagePoint(targetX: box.x + box.width / 2, targetY: box.y + box.height / 2)
    let corner = ImageRect(x: min(a.x, b.x), y: min(a.y, b.y), width: abs(a.x - b.x), height: abs(a.y - b.y))
    return NormalizedRect(imageRect: corner, in: imageSize, origin: .upperLeft)
  }

  /// Converts a point in pixels of the model's input, from the top left, to the whole upright image.
  func imagePoint(x: Double, y: Double) -> NormalizedPoint {
    let point = placement.imagePoint(targetX: x, targetY: y)
    return NormalizedPoint(imagePoint: ImagePoint(x: point.x, y: point.y), in: imageSize, origin: .upperLeft)
  }

  /// Returns one observation for each row of a pipeline's output arrays that holds a box, in the model's order.
  ///
  /// - Parameter given: The names of the classes, in place of the model's own.
  func objects(
    _ outputs: DictionaryFeatureProvider, _ detection: KeptBoxes, names given: [String]? = nil
  ) -> [RecognizedObjectObservation] {
    guard let confidence = outputs[detection.scoresOutput]?.multiArrayValue, confidence.shape.count == 2,
      let coordinates = outputs[detection.boxesOutput]?.multiArrayValue, coordinates.shape.count == 2,
      coordinates.shape[1] == 4
    else { return [] }
    let classes = confidence.shape[1]
    let names = given ?? detection.labels?.strings ?? (0..<classes).map(String.init)
    let (scores, boxes) = (confidence.floats, coordinates.doubles)
    let (width, height) = (Double(target.width), Double(target.height))
    return (0..<min(confidence.shape[0], coordinates.shape[0])).compactMap { row in
      let box = boxes[row * 4..<row * 4 + 4].map { $0 }
      // Padding rows, up to the smallest number of rows that the model declares, are zero.
      guard box.contains(where: { $0 != 0 }) else { return nil }
      let labels = zip(names, scores[row * classes..<(row + 1) * classes]).map {
        ClassificationObservation(identifier: $0, confidence: $1)
      }
      return RecognizedObjectObservation(
        labels: labels,
        boundingBox: imageBox(
          CenteredBox(x: box[0] * width, y: box[1] * height, width: box[2] * width, height: box[3] * height)))
    }
  }
}
