import ArgumentParser
import Kelvin
import KelvinVision

/// A kind of file that is written for a segmented image.
enum SegmentFileKind: String, CaseIterable, Sendable {
  /// An indexed PNG whose samples are classes.
  case labels
  /// The image tinted in the classes' colours, with a legend.
  case overlay
  /// A grey PNG for each class.
  case masks
  /// Outlines as GeoJSON.
  case polygons
  /// COCO's run lengths as a compressed string.
  case rle
  /// COCO's run lengths as numbers.
  case counts

  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// Parses a comma-separated list of kinds.
  ///
  /// - Throws: `ValidationError` for an unknown kind.
  static func list(_ text: String) throws -> [SegmentFileKind] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
      guard let kind = SegmentFileKind(rawValue: String(word)) else {
        throw ValidationError("'\(word)' is not a kind of file; use \(names)")
      }
      return kind
    }
  }
}

/// Reads files of colours.
enum ColorFile {
  /// Reads `#RRGGBB` per line, from class 0 on. An empty line selects the default colour.
  static func read(_ path: String) throws -> [String] {
    let lines = LabelFile.labels(in: String(decoding: try LocalFile.read(path), as: UTF8.self))
    guard !lines.isEmpty else { throw InputError("'\(path)' holds no colours; expected one per line") }
    if let wrong = lines.firstIndex(where: { !$0.isEmpty && IndexedPNG.Color(hexadecimal: $0) == nil }) {
      throw InputError("'\(path)', line \(wrong + 1): '\(lines[wrong])' is not a colour; expected #RRGGBB")
    }
    return lines
  }
}
