public import FoundationEssentials
import KelvinBasics

extension SegmentationObservation {
  /// The outlines of a label along the edges of its pixels, a polygon for each part that hangs together by pixels' sides.
  ///
  /// - Parameters:
  ///   - label: a label of the model.
  ///   - tolerance: in pixels. Above zero, corners are left out that lie no farther than this from the new outline, and
  ///     neighbours no longer share their borders exactly.
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it names the one that is nearest.
  public func polygons(
    for label: String, simplifiedBy tolerance: Double = 0
  ) throws(VisionError) -> [SegmentationPolygon] {
    let seen = try restricted(to: [label])
    let polygons = seen.polygons(tolerance)
    return seen.parts.flatMap { polygons[UInt8($0.index)] ?? [] }
  }

  /// Run lengths of a part, as COCO's tools read them.
  public func runLengths(of part: Part) -> RunLengths {
    map.runLengths()[UInt8(part.index)] ?? RunLengths(height: height, width: width, counts: [width * height])
  }

  /// A GeoJSON feature collection with a `MultiPolygon` for each part, and `class`, `label`, `color`, `pixels` and `share`
  /// among its properties.
  ///
  /// Coordinates are pixels from the image's upper left corner, no longitudes and latitudes: `size` and `unit` beside the
  /// features say so.
  ///
  /// - Parameter tolerance: as ``polygons(for:simplifiedBy:)`` takes it.
  /// - Throws: what JSON's encoder does.
  public func geoJSON(simplifiedBy tolerance: Double = 0) throws -> Data {
    try JSONText.encode(SegmentationFeatures(self, polygons(tolerance)), layout: .line)
  }

  /// The polygons of all parts.
  func polygons(_ tolerance: Double) -> [UInt8: [SegmentationPolygon]] {
    var isWanted = [Bool](repeating: false, count: 256)
    for part in parts { isWanted[part.index] = true }
    let exact = RegionContours(map, isWanted: isWanted).polygons()
    return tolerance > 0 ? exact.mapValues { $0.map { $0.simplified(tolerance) } } : exact
  }

  /// Masks of all parts, the largest part first, as a list that `pycocotools.mask` reads: `area`, `bbox` (x, y, width,
  /// height) and `segmentation` (`size` as height and width, `counts`), and `class`, `label` and `color` of each.
  ///
  /// - Parameter isCompressed: whether counts are COCO's text for them, else numbers.
  /// - Throws: what JSON's encoder does.
  public func runLengthJSON(isCompressed: Bool = true) throws -> Data {
    let runs = map.runLengths()
    return try JSONText.encode(
      parts.compactMap { part in
        runs[UInt8(part.index)].map { SegmentationRuns(part, $0, isCompressed: isCompressed) }
      }, layout: .line)
  }
}
