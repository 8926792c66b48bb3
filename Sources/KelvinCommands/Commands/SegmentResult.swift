import Kelvin
import KelvinBasics
import KelvinVision

/// What was seen on a picture, as programs read it, and the files that were made of it.
struct SegmentResult: Encodable, Sendable {
  /// A class that a picture has, and how much of the picture it is, 0…1.
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
  /// The largest first.
  var classes: [Part] = []
  /// What a crop kept from the model, 0…1.
  var unseen: Double?
  var labelMap: String?
  var overlay: String?
  var polygons: String?
  var rle: String?
  var counts: String?
  var error: String?

  init(_ path: String, error: String?) { (image, self.error) = (path, error) }

  init(_ path: String, _ seen: SegmentationObservation) {
    image = path
    (width, height) = (seen.width, seen.height)
    classes = seen.parts.map(Part.init)
    unseen = seen.unseenShare > 0 ? seen.unseenShare : nil
  }

  /// The files that were written, masks last.
  var files: [String] { [labelMap, overlay, polygons, rle, counts].compactMap { $0 } + classes.compactMap(\.mask) }
}

/// Prints what was seen on pictures, in their order.
final class SegmentPrinter {
  private let format: PictureResultFormat
  private let isDocument: Bool
  private var results: [SegmentResult] = []

  /// - Parameter isDocument: whether all is one JSON document, whatever the format.
  init(_ format: PictureResultFormat, isDocument: Bool) {
    self.format = format
    self.isDocument = isDocument
    if format == .csv { Console.print("image,index,label,share,pixels,color,error") }
  }

  func add(_ result: SegmentResult) throws {
    switch format {
    case _ where isDocument: results.append(result)
    case .table: results.append(result)
    case .jsonl: try printJSONLine(result)
    case .csv:
      let rows = result.classes.map {
        [result.image, "\($0.index)", $0.label, "\($0.share)", "\($0.pixels)", $0.color, ""]
      }
      let lines = result.error.map { [[result.image, "", "", "", "", "", $0]] } ?? rows
      Console.print(lines: lines.map { $0.map { DelimitedText.field($0.printable) }.joined(separator: ",") })
    }
  }

  func finish() throws {
    if isDocument { return try printJSON(results) }
    let good = results.filter { $0.error == nil }
    guard format == .table, !good.isEmpty else { return }
    var table = TextTable(
      .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("CLASS", shrinksTo: 12), .init("SHARE", .right),
      .init("COLOUR"))
    for result in good {
      for (rank, part) in result.classes.enumerated() {
        table.add(rank == 0 ? result.image : "", part.label, HumanReadable.percent(part.share), part.color)
      }
      if let unseen = result.unseen {
        table.add(result.classes.isEmpty ? result.image : "", "(cropped away)", HumanReadable.percent(unseen), "")
      } else if result.classes.isEmpty {
        table.add(result.image, "—", "", "")
      }
    }
    let files = good.flatMap(\.files)
    Console.print(table.text() + (files.isEmpty ? "" : "\n"))
    if !files.isEmpty { Console.print(lines: files) }
  }
}
