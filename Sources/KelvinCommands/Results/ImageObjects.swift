import Kelvin
import KelvinBasics
import KelvinVision

/// The objects in an image, as they are printed.
struct ImageObjects: ImageResult {
  var image: String
  var size: ImageSize?
  var observations: [RecognizedObjectObservation] = []
  var drawing: String?
  var error: String?

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }

  init(image: String, _ size: ImageSize, _ observations: some Sequence<RecognizedObjectObservation>) {
    (self.image, self.size, self.observations) = (image, size, Array(observations))
  }

  static let columns: [TextTable.Column] = [
    .init("OBJECT", shrinksTo: 12), .init("CONFIDENCE", .right), .init("LEFT", .right), .init("TOP", .right),
    .init("WIDTH", .right), .init("HEIGHT", .right),
  ]
  static let fields = ["identifier", "confidence", "x", "y", "width", "height"]

  /// `boundingBox` is in shares of the image's width and height, from its lower left corner, as in Vision; `pixels` is
  /// in pixels of the upright image, from its top left corner.
  var document: JSONObject {
    [
      "image": image, "width": size?.width, "height": size?.height, "drawing": drawing, "error": error,
      "observations": size.map { size in observations.map { $0.document(in: size) } } ?? [],
    ]
  }

  private func sides(of object: RecognizedObjectObservation) -> [Double] { size.map(object.sides) ?? [] }

  var files: [String] { drawing.map { [$0] } ?? [] }
  var rows: [[String]] {
    observations.map { object in
      [object.identifier, HumanReadable.percent(Double(object.confidence))] + sides(of: object).map(PixelText.whole)
    }
  }
  var labels: [(name: String, figure: String)] { rows.map { ($0[0], $0[1]) } }
  var records: [[String]] {
    observations.map { object in
      [object.identifier, "\(Double(object.confidence))"] + sides(of: object).map { "\($0)" }
    }
  }
}

extension RecognizedObjectObservation {
  private static let shownClasses = 5

  /// - Parameters:
  ///   - size: The size of the upright image.
  ///   - id: The number of the object's track; nil for none.
  func document(in size: ImageSize, id: Int? = nil, _ decimals: Decimals = .all) -> JSONObject {
    func document(_ sides: [Double]) -> JSONObject {
      ["x": sides[0], "y": sides[1], "width": sides[2], "height": sides[3]]
    }
    let box = [boundingBox.origin.x, boundingBox.origin.y, boundingBox.width, boundingBox.height]
    return [
      "id": id, "identifier": identifier, "confidence": decimals.share(confidence),
      "labels": labels.prefix(Self.shownClasses).map { $0.document(decimals) },
      "boundingBox": document(box.map { decimals.share($0) }),
      "pixels": document(sides(in: size).map(decimals.pixels)),
    ]
  }

  /// The left and top edge, width and height in pixels of the upright image.
  fileprivate func sides(in size: ImageSize) -> [Double] {
    let box = boundingBox.toImageCoordinates(size, origin: .upperLeft)
    return [box.x, box.y, box.width, box.height]
  }

  /// The most probable class; empty for an object without classes.
  fileprivate var identifier: String { labels.first?.identifier ?? "" }
}
