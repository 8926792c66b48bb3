import KelvinImages

/// A GeoJSON feature collection.
struct SegmentationFeatures: Encodable {
  struct Feature: Encodable {
    struct Geometry: Encodable {
      var type = "MultiPolygon"
      /// The coordinates: polygons, rings, positions. The last position of a ring repeats the first.
      var coordinates: [[[[Int]]]]
    }
    struct Properties: Encodable {
      var `class`: Int
      var label: String
      var color: String
      var pixels: Int
      var share: Double
    }
    var type = "Feature"
    var geometry: Geometry
    var properties: Properties
  }
  var type = "FeatureCollection"
  /// The width and height of the image.
  var size: [Int]
  var unit = "pixel"
  var features: [Feature]

  init(_ seen: SegmentationObservation, _ polygons: [UInt8: [SegmentationPolygon]]) {
    size = [seen.width, seen.height]
    features = seen.parts.map { part in
      let rings = (polygons[UInt8(part.index)] ?? []).map { [$0.exterior] + $0.holes }
      return Feature(
        geometry: Feature.Geometry(coordinates: rings.map { $0.map { ($0 + $0.prefix(1)).map { [$0.x, $0.y] } } }),
        properties: Feature.Properties(
          class: part.index, label: part.label, color: part.color, pixels: part.pixelCount, share: part.share))
    }
  }
}

/// A mask in the format of COCO's files.
struct SegmentationRuns: Encodable {
  struct Mask: Encodable {
    enum Counts: Encodable {
      case text(String)
      case numbers([Int])

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .numbers(let numbers): try container.encode(numbers)
        }
      }
    }
    var size: [Int]
    var counts: Counts
  }
  var `class`: Int
  package var label: String
  var color: String
  var area: Int
  var bbox: [Int]
  var segmentation: Mask

  init(_ part: SegmentationObservation.Part, _ runs: RunLengths, isCompressed: Bool) {
    (`class`, label, color, area) = (part.index, part.label, part.color, part.pixelCount)
    bbox = runs.boundingBox.map { [$0.x, $0.y, $0.width, $0.height] } ?? []
    segmentation = Mask(
      size: [runs.height, runs.width], counts: isCompressed ? .text(runs.compressed) : .numbers(runs.counts))
  }
}
