import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Label maps, and what COCO's tools and GEOS make of them (`Tests/Vision/shapes.py`).
private struct ShapeCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Class: Decodable {
    var `class`: Int
    var counts: [Int]
    var compressed: String
    var area: Int
    /// x, y, width, height.
    var box: [Int]
    /// Of each polygon the exterior, then its holes.
    var polygons: [Outline]
  }
  struct Outline: Decodable, Hashable {
    var exterior: [[Int]]
    var holes: [[[Int]]]

    init(_ polygon: SegmentationPolygon) {
      exterior = Self.ordered(polygon.exterior)
      holes = polygon.holes.map(Self.ordered).sorted {
        $0.lexicographicallyPrecedes($1) { $0.lexicographicallyPrecedes($1) }
      }
    }

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      exterior = try container.decode([[Int]].self)
      holes = try container.decode([[[Int]]].self)
    }

    /// From the first corner in order of x, then y.
    private static func ordered(_ ring: [PixelPoint]) -> [[Int]] {
      let points = ring.map { [$0.x, $0.y] }
      let start = points.indices.min { points[$0].lexicographicallyPrecedes(points[$1]) } ?? 0
      return Array(points[start...] + points[..<start])
    }
  }
  var name: String
  var rows: [String]
  var classes: [Class]

  var testDescription: String { name }

  var map: [UInt8] { rows.flatMap { $0.map { UInt8(String($0)) ?? SegmentationObservation.unseenIndex } } }

  func observation(_ labels: [String] = []) throws -> SegmentationObservation {
    try SegmentationObservation(labelMap: map, width: rows[0].count, height: rows.count, labels: labels)
  }

  static let all: [ShapeCase] = {
    let url = URL(filePath: "\(VisionFixture.folder)/shapes.json")
    return (try? JSONDecoder().decode([ShapeCase].self, from: Data(contentsOf: url))) ?? []
  }()
}

@Suite struct SegmentationShapesTests {
  @Test func testShapesExist() {
    #expect(ShapeCase.all.count > 10)
    #expect(ShapeCase.all.flatMap(\.classes).flatMap(\.polygons).contains { $0.holes.count > 1 })
  }

  @Test(arguments: ShapeCase.all) fileprivate func runLengthsMatchCOCOTools(shape: ShapeCase) throws {
    let seen = try shape.observation()
    #expect(seen.parts.map(\.index).sorted() == shape.classes.map(\.class))
    for part in seen.parts {
      let expected = try #require(shape.classes.first { $0.class == part.index })
      let runs = seen.runLengths(of: part)
      #expect((runs.height, runs.width) == (seen.height, seen.width))
      #expect(runs.counts == expected.counts)
      #expect(runs.compressed == expected.compressed)
      #expect(runs.area == expected.area && part.pixelCount == expected.area)
      #expect(
        runs.boundingBox
          == PixelRect(
            x: expected.box[0], y: expected.box[1], width: expected.box[2], height: expected.box[3]))
    }
  }

  @Test(arguments: ShapeCase.all) fileprivate func outlinesAreUnionsOfPixels(shape: ShapeCase) throws {
    let seen = try shape.observation()
    for expected in shape.classes where !expected.polygons.isEmpty {
      let polygons = try seen.polygons(for: "class \(expected.class)")
      #expect(Set(polygons.map(ShapeCase.Outline.init)) == Set(expected.polygons))
      #expect(polygons.count == expected.polygons.count)
      #expect(polygons.map(\.area).reduce(0, +) == Double(expected.area))
    }
  }

  /// By the definition of what is promised: brute force.
  @Test(arguments: ShapeCase.all, [0.5, 1, 2.5, 100])
  fileprivate func simplifiedOutlinesStayNearAndDoNotCross(shape: ShapeCase, tolerance: Double) throws {
    guard shape.classes.contains(where: { !$0.polygons.isEmpty }) else { return }
    let seen = try shape.observation()
    for part in seen.parts {
      let exact = try seen.polygons(for: part.label)
      let simple = try seen.polygons(for: part.label, simplifiedBy: tolerance)
      #expect(simple.count == exact.count)
      for (before, after) in zip(exact, simple) {
        let (old, new) = ([before.exterior] + before.holes, [after.exterior] + after.holes)
        #expect(new.count == old.count)
        for (old, new) in zip(old, new) {
          #expect(new.count >= 3 && new.count <= old.count && Set(new).isSubset(of: old) && Set(new).count == new.count)
          for corner in old { #expect(new.distance(to: corner) <= tolerance + 1e-9) }
        }
        #expect(after.exterior.signedArea > 0 && after.holes.allSatisfy { $0.signedArea < 0 })
        #expect(after.area > 0)
        let edges = new.flatMap { ring in ring.indices.map { (ring[$0], ring[($0 + 1) % ring.count]) } }
        for (index, a) in edges.enumerated() {
          for b in edges[..<index] { #expect(!crosses(a, b), "\(a), \(b)") }
        }
      }
    }
  }

  @Test func simplifiedDiscHasFewerCorners() throws {
    let seen = try #require(ShapeCase.all.first { $0.name == "discs" }).observation()
    let exact = try seen.polygons(for: "class 2")
    let simple = try seen.polygons(for: "class 2", simplifiedBy: 1)
    #expect(simple[0].exterior.count * 3 < exact[0].exterior.count)
    #expect(abs(simple[0].area - exact[0].area) < 0.1 * exact[0].area)
    // A tolerance of 0 changes nothing.
    #expect(try seen.polygons(for: "class 2", simplifiedBy: 0) == exact)
  }

  private func crosses(_ a: (PixelPoint, PixelPoint), _ b: (PixelPoint, PixelPoint)) -> Bool {
    func side(_ p: PixelPoint, _ q: PixelPoint, _ r: PixelPoint) -> Int {
      ((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)).signum()
    }
    return side(a.0, a.1, b.0) * side(a.0, a.1, b.1) < 0 && side(b.0, b.1, a.0) * side(b.0, b.1, a.1) < 0
  }

  private struct GeoJSON: Decodable {
    struct Feature: Decodable {
      struct Geometry: Decodable {
        var type: String
        var coordinates: [[[[Int]]]]
      }
      struct Properties: Decodable {
        var `class`: Int
        var label: String
        var color: String
        var pixels: Int
        var share: Double
      }
      var type: String
      var geometry: Geometry
      var properties: Properties
    }
    var type: String
    var size: [Int]
    var unit: String
    var features: [Feature]
  }

  @Test func geoJSONHasOneFeaturePerPart() throws {
    let shape = try #require(ShapeCase.all.first { $0.name == "rings within rings" })
    let seen = try shape.observation(["ground", "wall", "\"moat\"\u{1B}"])
    let document = try JSONDecoder().decode(GeoJSON.self, from: try seen.geoJSON())
    #expect((document.type, document.unit) == ("FeatureCollection", "pixel"))
    #expect(document.size == [seen.width, seen.height])
    #expect(document.features.map(\.properties.label) == seen.parts.map(\.label))
    for (feature, part) in zip(document.features, seen.parts) {
      #expect((feature.type, feature.geometry.type) == ("Feature", "MultiPolygon"))
      let properties = feature.properties
      #expect((properties.class, properties.pixels) == (part.index, part.pixelCount))
      #expect((properties.color, properties.share) == (part.color, part.share))
      #expect(feature.geometry.coordinates.joined().allSatisfy { $0.first == $0.last && $0.count > 4 })
      let open = feature.geometry.coordinates.map { $0.map { $0.dropLast().map { PixelPoint(x: $0[0], y: $0[1]) } } }
      let polygons = open.map { SegmentationPolygon(exterior: $0[0], holes: Array($0[1...])) }
      #expect(try polygons == seen.polygons(for: part.label))
    }
    // The wall: a ring with the moat as its hole, and an island.
    let wall = try #require(document.features.first { $0.properties.label == "wall" })
    #expect(wall.geometry.coordinates.map(\.count).sorted() == [1, 2])
    let text = String(decoding: try seen.geoJSON(), as: UTF8.self)
    #expect(!text.contains("\u{1B}"))
  }

  @Test func runLengthDocumentIsValidForCOCOTools() throws {
    struct Entry: Decodable {
      struct Mask<Counts: Decodable>: Decodable {
        var size: [Int]
        var counts: Counts
      }
    }
    struct Text: Decodable {
      var label: String
      var area: Int
      var bbox: [Int]
      var segmentation: Entry.Mask<String>
    }
    struct Numbers: Decodable { var segmentation: Entry.Mask<[Int]> }
    let shape = try #require(ShapeCase.all.first { $0.name == "discs" })
    let seen = try shape.observation(["ground", "left", "right"])
    let texts = try JSONDecoder().decode([Text].self, from: try seen.runLengthJSON())
    let numbers = try JSONDecoder().decode([Numbers].self, from: try seen.runLengthJSON(isCompressed: false))
    #expect(texts.count == seen.parts.count && numbers.count == texts.count)
    for (part, (text, number)) in zip(seen.parts, zip(texts, numbers)) {
      let expected = try #require(shape.classes.first { $0.class == part.index })
      #expect(text.label == part.label && text.area == expected.area && text.bbox == expected.box)
      #expect(text.segmentation.size == [seen.height, seen.width])
      #expect(text.segmentation.counts == expected.compressed && number.segmentation.counts == expected.counts)
    }
  }
}

extension [PixelPoint] {
  fileprivate var signedArea: Int {
    indices.reduce(0) { sum, index in
      let (a, b) = (self[index], self[(index + 1) % count])
      return sum + a.x * b.y - b.x * a.y
    }
  }

  /// Of a point to the closed ring.
  fileprivate func distance(to point: PixelPoint) -> Double {
    indices.map { index in
      let (a, b) = (self[index], self[(index + 1) % count])
      let (dx, dy) = (Double(b.x - a.x), Double(b.y - a.y))
      let (px, py) = (Double(point.x - a.x), Double(point.y - a.y))
      let along = Swift.min(Swift.max((px * dx + py * dy) / (dx * dx + dy * dy), 0), 1)
      return ((px - along * dx) * (px - along * dx) + (py - along * dy) * (py - along * dy)).squareRoot()
    }.min() ?? .infinity
  }
}
