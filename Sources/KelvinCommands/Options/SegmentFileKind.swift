import ArgumentParser
import Kelvin
import KelvinVision

/// A file that is made of a segmented image.
enum SegmentFileKind: String, CaseIterable, Sendable {
  /// An indexed PNG whose samples are classes.
  case labels
  /// The image under the classes' colours, with a legend.
  case overlay
  /// A grey PNG for each class.
  case masks
  /// Outlines as GeoJSON.
  case polygons
  /// COCO's run lengths, as its text for them.
  case rle
  /// COCO's run lengths as numbers.
  case counts

  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// Kinds with commas between them.
  ///
  /// - Throws: `ValidationError` for one that there is not.
  static func list(_ text: String) throws -> [SegmentFileKind] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
      guard let kind = SegmentFileKind(rawValue: String(word)) else {
        throw ValidationError("'\(word)' is nothing that can be written; use \(names)")
      }
      return kind
    }
  }
}

/// Files of colours.
enum ColorFile {
  /// `#RRGGBB` a line, from class 0 on; an empty line leaves a class its own colour.
  static func read(_ path: String) throws -> [String] {
    let lines = LabelFile.labels(in: String(decoding: try LocalFile.read(path), as: UTF8.self))
    guard !lines.isEmpty else { throw InputError("'\(path)' holds no colours; expected one a line") }
    if let wrong = lines.firstIndex(where: { !$0.isEmpty && IndexedPNG.Color(hexadecimal: $0) == nil }) {
      throw InputError("'\(path)', line \(wrong + 1): '\(lines[wrong])' is no colour; expected #RRGGBB")
    }
    return lines
  }
}
