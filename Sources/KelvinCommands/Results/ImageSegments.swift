import Kelvin
import KelvinBasics
import KelvinVision

/// The classes in an image, as they are printed, and the files that were written for it.
struct ImageSegments: ImageResult {
  var image: String
  private var seen: SegmentationObservation?
  /// The files of masks, by class.
  var masks: [Int: String] = [:]
  var labelMap: String?
  var overlay: String?
  var polygons: String?
  var rle: String?
  var counts: String?
  var error: String?

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }
  init(_ path: String, _ seen: SegmentationObservation) { (image, self.seen) = (path, seen) }

  /// The classes, the largest first.
  private var parts: [SegmentationObservation.Part] { seen?.parts ?? [] }
  /// The share of the image that the model did not see because of a crop, 0…1.
  private var unseen: Double? { seen.flatMap { $0.unseenShare > 0 ? $0.unseenShare : nil } }

  /// The files that were written, masks last.
  var files: [String] {
    [labelMap, overlay, polygons, rle, counts].compactMap { $0 } + parts.compactMap { masks[$0.index] }
  }

  static let columns = [
    TextTable.Column("CLASS", shrinksTo: 12), .init("SHARE", .right), .init("COLOUR"),
  ]
  static let fields = ["index", "label", "share", "pixels", "color"]

  var document: JSONObject {
    [
      "image": image, "width": seen?.width, "height": seen?.height, "unseen": unseen, "labelMap": labelMap,
      "overlay": overlay, "polygons": polygons, "rle": rle, "counts": counts, "error": error,
      "classes": parts.map { $0.document(mask: masks[$0.index]) },
    ]
  }

  var rows: [[String]] {
    parts.map { [$0.label, HumanReadable.percent($0.share), $0.color] }
      + (unseen.map { [["(cropped away)", HumanReadable.percent($0), ""]] } ?? [])
  }

  /// The labels with the background last.
  var labels: [(name: String, figure: String)] {
    let isBackground = { (part: SegmentationObservation.Part) in
      part.index == 0 && part.label.lowercased() == "background"
    }
    let things = parts.filter { !isBackground($0) } + parts.filter(isBackground)
    return things.map { ($0.label, HumanReadable.percent($0.share)) }
  }

  var records: [[String]] { parts.map { ["\($0.index)", $0.label, "\($0.share)", "\($0.pixelCount)", $0.color] } }
}

extension SegmentationObservation.Part {
  /// - Parameter mask: The path of the class's mask; nil for none.
  func document(mask: String?, _ decimals: Decimals = .all) -> JSONObject {
    [
      "index": index, "label": label, "share": decimals.share(share), "pixels": pixelCount, "color": color,
      "mask": mask,
    ]
  }
}
