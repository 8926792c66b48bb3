/// A corner of an image's pixels: so many pixels from the left and from the top.
public struct PixelPoint: Hashable, Sendable {
  /// Pixels from the image's left side.
  public var x: Int
  /// Pixels from its upper side.
  public var y: Int

  /// A corner of pixels.
  public init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// A part of an image that hangs together, by its outline.
///
/// Rings are closed and do not repeat their first corner. Their order is GeoJSON's (RFC 7946): by the shoelace formula on
/// the coordinates as they are, exteriors have a positive area and holes a negative one, so that y, which grows
/// downwards, makes exteriors run clockwise where one looks at the image. No ring meets itself; rings of a polygon may
/// touch at corners.
public struct SegmentationPolygon: Hashable, Sendable {
  /// The outer ring.
  public var exterior: [PixelPoint]
  /// What the outer ring surrounds and does not belong to the part.
  public var holes: [[PixelPoint]]

  /// A polygon of rings.
  public init(exterior: [PixelPoint], holes: [[PixelPoint]]) {
    self.exterior = exterior
    self.holes = holes
  }

  /// What the polygon covers, in pixels.
  public var area: Double { Double(([exterior] + holes).map(\.doubledArea).reduce(0, +)) / 2 }
}

extension [PixelPoint] {
  /// Twice the signed area within a ring, by the shoelace formula.
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
