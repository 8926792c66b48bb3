import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// Writes the files that are made of segmented images.
struct SegmentFiles: Sendable {
  let folder: String
  let kinds: [SegmentFileKind]
  /// How far outlines may be from the pixels' edges, in pixels.
  let tolerance: Double
  /// How hard PNG files are compressed, 0…9.
  let level: Int
  /// What the files of each image begin with.
  private let stems: [String]
  /// The most letters of a label in a file's name.
  private static let longestLabel = 60

  init(_ folder: String, _ kinds: [SegmentFileKind], of paths: [String], tolerance: Double, level: Int) {
    (self.folder, self.kinds, self.tolerance, self.level) = (folder, kinds, tolerance, level)
    stems = FileNames.all(paths)
  }

  /// - Parameter index: the image's place among those that were named.
  /// - Throws: `ModelError`, `ImageError` where a file cannot be written.
  func write(
    _ seen: SegmentationObservation, of image: DecodedImage, _ index: Int, into result: inout ImageSegments
  ) throws {
    let base = folder.appendingPath(stems[index])
    for kind in kinds {
      switch kind {
      case .labels:
        let path = "\(base).labels.png"
        result.labelMap = try put(try seen.labelMapPNG(name: path), path)
      case .overlay:
        let overlay = try recognizing { () throws(VisionError) in
          try seen.overlay(on: image.pixels, orientation: image.orientation)
        }
        result.overlay = try encoded(overlay, "\(base).overlay.png")
      case .masks:
        for (place, part) in seen.parts.enumerated() {
          let mask = try recognizing { () throws(VisionError) in try seen.mask(of: part) }
          let label = LocalFile.sanitized(String(part.label.prefix(Self.longestLabel)))
          result.classes[place].mask = try encoded(mask, "\(base).\(part.index)-\(label).mask.png")
        }
      case .polygons:
        result.polygons = try put(try seen.geoJSON(simplifiedBy: tolerance), "\(base).geojson")
      case .rle: result.rle = try put(try seen.runLengthJSON(), "\(base).rle.json")
      case .counts: result.counts = try put(try seen.runLengthJSON(isCompressed: false), "\(base).counts.json")
      }
    }
  }

  private func encoded(_ image: PixelBuffer, _ path: String) throws -> String {
    try put(try ImageFile.encode(image, as: .png, level: level, name: path), path)
  }

  private func put(_ bytes: some Collection<UInt8>, _ path: String) throws -> String {
    try LocalFile.write(bytes, to: path)
    return path
  }
}
