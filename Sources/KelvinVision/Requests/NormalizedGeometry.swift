/// The corner of an image that is the origin of coordinates.
public enum CoordinateOrigin: String, Hashable, Sendable, CaseIterable, Codable {
  /// The lower left corner: y grows upwards, as in Vision's own coordinates.
  case lowerLeft
  /// The upper left corner: y grows downwards, as pixels are stored.
  case upperLeft
}

/// A point in pixels, with fractional coordinates.
public struct ImagePoint: Hashable, Sendable, Codable {
  /// The distance from the image's left edge in pixels.
  public var x: Double
  /// The distance from the image's lower or upper edge in pixels, depending on the coordinates' origin.
  public var y: Double

  /// Creates a point from its coordinates in pixels.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A rectangle in pixels, with fractional coordinates. `x` and `y` are the corner nearest to the origin.
public struct ImageRect: Hashable, Sendable, Codable {
  /// The distance from the image's left edge in pixels.
  public var x: Double
  /// The distance from the image's lower or upper edge in pixels, depending on the coordinates' origin.
  public var y: Double
  /// The width in pixels.
  public var width: Double
  /// The height in pixels.
  public var height: Double

  /// Creates a rectangle from its position and size in pixels.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

/// The size of an image in pixels.
public struct ImageSize: Hashable, Sendable, Codable {
  /// The number of columns.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Creates a size in pixels.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// A point in shares of an image's width and height, from the lower left corner.
public struct NormalizedPoint: Hashable, Sendable, Codable {
  /// The share of the width, from the left.
  public var x: Double
  /// The share of the height, from the lower edge.
  public var y: Double

  /// The lower left corner.
  public static let zero = NormalizedPoint(x: 0, y: 0)

  /// Creates a point from shares of the image's width and height.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// Converts a point in pixels.
  ///
  /// - Parameters:
  ///   - imagePoint: The point in pixels.
  ///   - size: The image's size.
  ///   - origin: The origin of `imagePoint`.
  public init(imagePoint: ImagePoint, in size: ImageSize, origin: CoordinateOrigin = .lowerLeft) {
    let y = imagePoint.y / Double(size.height)
    self.init(x: imagePoint.x / Double(size.width), y: origin == .lowerLeft ? y : 1 - y)
  }

  /// Returns the point in pixels of an image of this size.
  public func toImageCoordinates(_ size: ImageSize, origin: CoordinateOrigin = .lowerLeft) -> ImagePoint {
    let y = origin == .lowerLeft ? self.y : 1 - self.y
    return ImagePoint(x: x * Double(size.width), y: y * Double(size.height))
  }

  /// Returns the point relative to the opposite corner on the left.
  public func verticallyFlipped() -> NormalizedPoint { NormalizedPoint(x: x, y: 1 - y) }
}

/// A rectangle in shares of an image's width and height. Its origin is its lower left corner, relative to the image's
/// lower left corner.
public struct NormalizedRect: Hashable, Sendable {
  /// The lower left corner.
  public var origin: NormalizedPoint
  /// The share of the image's width.
  public var width: Double
  /// The share of the image's height.
  public var height: Double

  /// The whole image.
  public static let fullImage = NormalizedRect(x: 0, y: 0, width: 1, height: 1)

  /// Creates a rectangle from shares of the image's width and height.
  public init(x: Double, y: Double, width: Double, height: Double) {
    origin = NormalizedPoint(x: x, y: y)
    self.width = width
    self.height = height
  }

  /// Converts a rectangle in pixels.
  ///
  /// - Parameters:
  ///   - imageRect: The rectangle in pixels.
  ///   - size: The image's size.
  ///   - origin: The origin of `imageRect`.
  public init(imageRect: ImageRect, in size: ImageSize, origin: CoordinateOrigin = .lowerLeft) {
    let (wide, high) = (Double(size.width), Double(size.height))
    let y = origin == .lowerLeft ? imageRect.y : high - imageRect.y - imageRect.height
    self.init(x: imageRect.x / wide, y: y / high, width: imageRect.width / wide, height: imageRect.height / high)
  }

  /// The middle of the rectangle.
  public var center: NormalizedPoint { NormalizedPoint(x: origin.x + width / 2, y: origin.y + height / 2) }

  /// Returns the rectangle in pixels of an image of this size.
  ///
  /// - Parameters:
  ///   - size: The image's size.
  ///   - origin: The origin of the result.
  public func toImageCoordinates(_ size: ImageSize, origin: CoordinateOrigin = .lowerLeft) -> ImageRect {
    let y = origin == .lowerLeft ? self.origin.y : 1 - self.origin.y - height
    let (wide, high) = (Double(size.width), Double(size.height))
    return ImageRect(x: self.origin.x * wide, y: y * high, width: width * wide, height: height * high)
  }

  /// Returns the rectangle relative to the opposite corner on the left.
  public func verticallyFlipped() -> NormalizedRect {
    NormalizedRect(x: origin.x, y: 1 - origin.y - height, width: width, height: height)
  }

  /// Whether all coordinates are finite.
  var isFinite: Bool { [origin.x, origin.y, width, height].allSatisfy(\.isFinite) }

  /// Whether the rectangle has a positive area and is inside the image.
  var isWithinImage: Bool {
    // The slack allows for rounding errors in sums of fractions such as 0.1 + 0.9.
    let slack = 1e-9
    return width > 0 && height > 0 && origin.x >= -slack && origin.y >= -slack && origin.x + width <= 1 + slack
      && origin.y + height <= 1 + slack
  }
}

/// Encoded with the keys `x`, `y`, `width` and `height`, as `kelvin detect --json` prints boxes.
extension NormalizedRect: Codable {
  private enum CodingKeys: CodingKey { case x, y, width, height }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      x: values.decode(Double.self, forKey: .x), y: values.decode(Double.self, forKey: .y),
      width: values.decode(Double.self, forKey: .width), height: values.decode(Double.self, forKey: .height))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(origin.x, forKey: .x)
    try values.encode(origin.y, forKey: .y)
    try values.encode(width, forKey: .width)
    try values.encode(height, forKey: .height)
  }
}
