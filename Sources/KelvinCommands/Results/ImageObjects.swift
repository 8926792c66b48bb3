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

  private static let shownClasses = 5

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
      "observations": observations.map { object -> JSONObject in
        let box = object.boundingBox
        return [
          "identifier": object.identifier, "confidence": Double(object.confidence),
          "labels": object.labels.prefix(Self.shownClasses).map(\.document),
          "boundingBox": Self.document([box.origin.x, box.origin.y, box.width, box.height]),
          "pixels": Self.document(sides(of: object)),
        ]
      },
    ]
  }

  private static func document(_ sides: [Double]) -> JSONObject {
    ["x": sides[0], "y": sides[1], "width": sides[2], "height": sides[3]]
  }

  /// The left and top edge, width and height of an object in pixels of the upright image.
  private func sides(of object: RecognizedObjectObservation) -> [Double] {
    guard let size else { return [] }
    let box = object.boundingBox.toImageCoordinates(size, origin: .upperLeft)
    return [box.x, box.y, box.width, box.height].map { Double($0) }
  }

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
  /// The most probable class; empty for an object without classes.
  fileprivate var identifier: String { labels.first?.identifier ?? "" }
}
