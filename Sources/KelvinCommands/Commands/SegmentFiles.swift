import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A writer for the files of segmented images.
struct SegmentFiles: Sendable {
  let folder: String
  let kinds: [SegmentFileKind]
  /// The largest distance of a simplified outline from the pixels' edges, in pixels.
  let tolerance: Double
  /// The compression level of PNG files, 0…9.
  let level: Int
  /// The prefix of the names of each image's files.
  private let stems: [String]
  /// The largest number of characters of a label in a file name.
  private static let longestLabel = 60

  init(_ folder: String, _ kinds: [SegmentFileKind], of paths: [String], tolerance: Double, level: Int) {
    (self.folder, self.kinds, self.tolerance, self.level) = (folder, kinds, tolerance, level)
    stems = FileNames.all(paths)
  }

  /// Writes the requested files of one image.
  ///
  /// - Parameter index: The index of the image on the command line.
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
        for part in seen.parts {
          let mask = try recognizing { () throws(VisionError) in try seen.mask(of: part) }
          let label = LocalFile.sanitized(String(part.label.prefix(Self.longestLabel)))
          result.masks[part.index] = try encoded(mask, "\(base).\(part.index)-\(label).mask.png")
        }
      case .polygons:
        result.polygons = try put(try seen.geoJSON(simplifiedBy: tolerance), "\(base).geojson")
      case .rle: result.rle = try put(try seen.runLengthJSON(), "\(base).rle.json")
      case .counts: result.counts = try put(try seen.runLengthJSON(isCompressed: false), "\(base).counts.json")
      }
    }
  }

  private func encoded(_ image: PixelBuffer, _ path: String) throws -> String {
    try put(try ImageCodec.encode(image, as: .png, level: level, name: path), path)
  }

  private func put(_ bytes: some Collection<UInt8>, _ path: String) throws -> String {
    try LocalFile.write(bytes, to: path)
    return path
  }
}
