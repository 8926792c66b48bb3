import Kelvin
import KelvinBasics
import KelvinVision

/// The objects in an image, as they are printed.
struct ImageObjects: ImageResult {
  struct Rect: Encodable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  struct Object: Encodable {
    var identifier: String
    var confidence: Double
    /// The most probable classes.
    var labels: [ImageClasses.Observation]
    /// The box in shares of the image's width and height, from its lower left corner, as in Vision.
    var boundingBox: Rect
    /// The box in pixels of the upright image, from its top left corner.
    var pixels: Rect

    init(_ observation: RecognizedObjectObservation, in size: ImageSize) {
      identifier = observation.labels.first?.identifier ?? ""
      confidence = Double(observation.confidence)
      labels = observation.labels.prefix(Self.shownClasses).map(ImageClasses.Observation.init)
      let box = observation.boundingBox
      boundingBox = Rect(x: box.origin.x, y: box.origin.y, width: box.width, height: box.height)
      let rect = box.toImageCoordinates(size, origin: .upperLeft)
      pixels = Rect(x: rect.x, y: rect.y, width: rect.width, height: rect.height)
    }

    private static let shownClasses = 5
  }

  var image: String
  var width: Int?
  var height: Int?
  var observations: [Object] = []
  var drawing: String?
  var error: String?

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }

  init(image: String, _ size: ImageSize, _ observations: some Sequence<RecognizedObjectObservation>) {
    self.image = image
    (width, height) = (size.width, size.height)
    self.observations = observations.map { Object($0, in: size) }
  }

  static let columns: [TextTable.Column] = [
    .init("OBJECT", shrinksTo: 12), .init("CONFIDENCE", .right), .init("LEFT", .right), .init("TOP", .right),
    .init("WIDTH", .right), .init("HEIGHT", .right),
  ]
  static let fields = ["identifier", "confidence", "x", "y", "width", "height"]

  var files: [String] { drawing.map { [$0] } ?? [] }
  var rows: [[String]] {
    observations.map { object in
      [object.identifier, HumanReadable.percent(object.confidence)]
        + object.pixels.sides.map(PixelText.whole)
    }
  }
  var labels: [(name: String, figure: String)] { rows.map { ($0[0], $0[1]) } }
  var records: [[String]] {
    observations.map { object in
      [object.identifier, "\(object.confidence)"] + object.pixels.sides.map { "\($0)" }
    }
  }
}

extension ImageObjects.Rect {
  fileprivate var sides: [Double] { [x, y, width, height] }
}
