/// A corner point of an image's pixel grid.
public struct PixelPoint: Hashable, Sendable, Codable {
  /// The distance from the image's left edge in pixels.
  public var x: Int
  /// The distance from the image's upper edge in pixels.
  public var y: Int

  /// Creates a corner point from its coordinates.
  public init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// A connected part of an image, given by its outline.
///
/// Rings are closed and do not repeat their first corner. Their orientation is that of GeoJSON (RFC 7946): the shoelace
/// formula gives a positive area for exteriors and a negative area for holes. Because y grows downwards, exteriors
/// appear clockwise in the image. No ring touches itself; rings of a polygon may touch at corners.
public struct SegmentationPolygon: Hashable, Sendable, Codable {
  /// The outer ring.
  public var exterior: [PixelPoint]
  /// The inner rings, whose interior does not belong to the part.
  public var holes: [[PixelPoint]]

  /// Creates a polygon from its rings.
  public init(exterior: [PixelPoint], holes: [[PixelPoint]]) {
    self.exterior = exterior
    self.holes = holes
  }

  /// The area of the polygon in pixels.
  public var area: Double { Double(([exterior] + holes).map(\.doubledArea).reduce(0, +)) / 2 }
}

extension [PixelPoint] {
  /// Twice the signed area of a ring, by the shoelace formula.
  var doubledArea: Int {
    guard var last = self.last else { return 0 }
    var sum = 0
    for point in self {
      sum += last.x * point.y - point.x * last.y
      last = point
    }
    return sum
  }
}
