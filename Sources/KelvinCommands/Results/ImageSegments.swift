import Kelvin
import KelvinBasics
import KelvinVision

/// The classes in an image, as they are printed, and the files that were written for it.
struct ImageSegments: Encodable, Sendable {
  /// A class that occurs in an image, with its share of the image, 0…1.
  struct Part: Encodable, Sendable {
    var index: Int
    var label: String
    var share: Double
    var pixels: Int
    var color: String
    var mask: String?

    init(_ part: SegmentationObservation.Part) {
      (index, label, share) = (part.index, part.label, part.share)
      (pixels, color) = (part.pixelCount, part.color)
    }
  }

  var image: String
  var width: Int?
  var height: Int?
  /// The classes, the largest first.
  var classes: [Part] = []
  /// The share of the image that the model did not see because of a crop, 0…1.
  var unseen: Double?
  var labelMap: String?
  var overlay: String?
  var polygons: String?
  var rle: String?
  var counts: String?
  var error: String?

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }

  init(_ path: String, _ seen: SegmentationObservation) {
    image = path
    (width, height) = (seen.width, seen.height)
    classes = seen.parts.map(Part.init)
    unseen = seen.unseenShare > 0 ? seen.unseenShare : nil
  }

  /// The files that were written, masks last.
  var files: [String] { [labelMap, overlay, polygons, rle, counts].compactMap { $0 } + classes.compactMap(\.mask) }
}

extension ImageSegments: ImageResult {
  static let columns = [
    TextTable.Column("CLASS", shrinksTo: 12), .init("SHARE", .right), .init("COLOUR"),
  ]
  static let fields = ["index", "label", "share", "pixels", "color"]

  var rows: [[String]] {
    classes.map { [$0.label, HumanReadable.percent($0.share), $0.color] }
      + (unseen.map { [["(cropped away)", HumanReadable.percent($0), ""]] } ?? [])
  }

  /// The labels with the background last.
  var labels: [(name: String, figure: String)] {
    let isBackground = { (part: Part) in part.index == 0 && part.label.lowercased() == "background" }
    let things = classes.filter { !isBackground($0) } + classes.filter(isBackground)
    return things.map { ($0.label, HumanReadable.percent($0.share)) }
  }

  var records: [[String]] { classes.map { ["\($0.index)", $0.label, "\($0.share)", "\($0.pixels)", $0.color] } }
}
