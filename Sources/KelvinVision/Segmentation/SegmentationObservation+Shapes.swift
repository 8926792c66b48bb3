public import FoundationEssentials
import KelvinBasics
import KelvinImages

extension SegmentationObservation {
  /// Returns the outlines of a label along the edges of its pixels: one polygon for each region whose pixels are
  /// connected by their sides.
  ///
  /// - Parameters:
  ///   - label: A label of the model.
  ///   - tolerance: The largest distance in pixels of an omitted corner from the new outline. At 0 all corners are
  ///     kept. Above 0 neighbouring polygons no longer share their borders exactly.
  /// - Throws: `VisionError.invalidRequest` for a label that the model lacks; it suggests the most similar label.
  public func polygons(
    for label: String, simplifiedBy tolerance: Double = 0
  ) throws(VisionError) -> [SegmentationPolygon] {
    let seen = try restricted(to: [label])
    let polygons = seen.polygons(tolerance)
    return seen.parts.flatMap { polygons[UInt8($0.index)] ?? [] }
  }

  /// Returns the run lengths of a part, in the format of COCO's tools.
  public func runLengths(of part: Part) -> RunLengths {
    map.runLengths()[UInt8(part.index)] ?? RunLengths(height: height, width: width, counts: [width * height])
  }

  /// Encodes a GeoJSON feature collection with a `MultiPolygon` for each part. Its properties are `class`, `label`,
  /// `color`, `pixels` and `share`.
  ///
  /// Coordinates are pixels from the image's upper left corner, not longitudes and latitudes. The members `size` and
  /// `unit` of the collection say so.
  ///
  /// - Parameter tolerance: The tolerance, as in ``polygons(for:simplifiedBy:)``.
  /// - Throws: Errors of the JSON encoder.
  public func geoJSON(simplifiedBy tolerance: Double = 0) throws -> Data {
    let polygons = polygons(tolerance)
    let document: JSONObject = [
      "type": "FeatureCollection", "size": [width, height], "unit": "pixel",
      "features": parts.map { $0.feature(polygons[UInt8($0.index)] ?? []) },
    ]
    return try JSONText.encode(document, layout: .line)
  }

  /// Returns the polygons of all parts, by class.
  func polygons(_ tolerance: Double) -> [UInt8: [SegmentationPolygon]] {
    var isWanted = [Bool](repeating: false, count: 256)
    for part in parts { isWanted[part.index] = true }
    let exact = RegionContours(map, isWanted: isWanted).polygons()
    return tolerance > 0 ? exact.mapValues { $0.map { $0.simplified(tolerance) } } : exact
  }

  /// Encodes the masks of all parts, the largest first, as a list that `pycocotools.mask` reads. Each has `area`,
  /// `bbox` (x, y, width, height), `segmentation` (`size` as height and width, `counts`), `class`, `label` and `color`.
  ///
  /// - Parameter isCompressed: Whether counts are COCO's compressed string; otherwise they are numbers.
  /// - Throws: Errors of the JSON encoder.
  public func runLengthJSON(isCompressed: Bool = true) throws -> Data {
    let runs = map.runLengths()
    return try JSONText.encode(
      parts.compactMap { part in runs[UInt8(part.index)].map { part.mask($0, isCompressed: isCompressed) } },
      layout: .line)
  }
}

extension SegmentationObservation.Part {
  /// A GeoJSON feature. Its coordinates are polygons, rings and positions; a ring's last position repeats its first.
  fileprivate func feature(_ polygons: [SegmentationPolygon]) -> JSONObject {
    let rings = polygons.map { [$0.exterior] + $0.holes }
    return [
      "type": "Feature",
      "geometry": [
        "type": "MultiPolygon",
        "coordinates": rings.map { $0.map { ring in (ring + ring.prefix(1)).map { [$0.x, $0.y] } } },
      ] as JSONObject,
      "properties": [
        "class": index, "label": label, "color": color, "pixels": pixelCount, "share": share,
      ] as JSONObject,
    ]
  }

  /// A mask in the format of COCO's files.
  fileprivate func mask(_ runs: RunLengths, isCompressed: Bool) -> JSONObject {
    [
      "class": index, "label": label, "color": color, "area": pixelCount,
      "bbox": runs.boundingBox.map { [$0.x, $0.y, $0.width, $0.height] } ?? [],
      "segmentation": [
        "size": [runs.height, runs.width], "counts": isCompressed ? runs.compressed : runs.counts,
      ] as JSONObject,
    ]
  }
}
