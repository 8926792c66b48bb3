/// Which corner of an image coordinates count from.
public enum CoordinateOrigin: Hashable, Sendable, CaseIterable {
  /// y grows upwards, as in Vision's own coordinates.
  case lowerLeft
  /// y grows downwards, as pixels are stored.
  case upperLeft
}

/// A place in pixels, which need not be whole.
public struct ImagePoint: Hashable, Sendable {
  /// Pixels from the image's left side.
  public var x: Double
  /// Pixels from its lower or upper side, as the coordinates' origin says.
  public var y: Double

  /// A place in pixels.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A rectangle in pixels, which need not be whole: `x` and `y` are the corner that is nearest to the origin.
public struct ImageRect: Hashable, Sendable {
  /// Pixels from the image's left side.
  public var x: Double
  /// Pixels from its lower or upper side, as the coordinates' origin says.
  public var y: Double
  /// The width in pixels.
  public var width: Double
  /// The height in pixels.
  public var height: Double

  /// A rectangle in pixels.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

/// The size of an image in pixels.
public struct ImageSize: Hashable, Sendable {
  /// Pixels in a row.
  public var width: Int
  /// Rows.
  public var height: Int

  /// A size in pixels.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// A place in an image whose sides are 1 long, from its lower left corner.
public struct NormalizedPoint: Hashable, Sendable {
  /// The share of the width, from the left.
  public var x: Double
  /// The share of the height, from the lower side.
  public var y: Double

  /// The lower left corner.
  public static let zero = NormalizedPoint(x: 0, y: 0)

  /// A place in shares of the image's sides.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// The normalised form of a place in pixels.
  ///
  /// - Parameters:
  ///   - imagePoint: the place in pixels.
  ///   - size: the image's size.
  ///   - origin: the corner that `imagePoint` counts from.
  public init(imagePoint: ImagePoint, in size: ImageSize, origin: CoordinateOrigin = .lowerLeft) {
    let y = imagePoint.y / Double(size.height)
    self.init(x: imagePoint.x / Double(size.width), y: origin == .lowerLeft ? y : 1 - y)
  }

  /// The place in pixels of an image of this size.
  public func toImageCoordinates(_ size: ImageSize, origin: CoordinateOrigin = .lowerLeft) -> ImagePoint {
    let y = origin == .lowerLeft ? self.y : 1 - self.y
    return ImagePoint(x: x * Double(size.width), y: y * Double(size.height))
  }

  /// The same place, counted from the other corner on the left.
  public func verticallyFlipped() -> NormalizedPoint { NormalizedPoint(x: x, y: 1 - y) }
}

/// A rectangle in an image whose sides are 1 long; its origin is its lower left corner, counted from the image's.
public struct NormalizedRect: Hashable, Sendable {
  /// The lower left corner.
  public var origin: NormalizedPoint
  /// The share of the image's width.
  public var width: Double
  /// The share of the image's height.
  public var height: Double

  /// The whole image.
  public static let fullImage = NormalizedRect(x: 0, y: 0, width: 1, height: 1)

  /// A rectangle in shares of the image's sides.
  public init(x: Double, y: Double, width: Double, height: Double) {
    origin = NormalizedPoint(x: x, y: y)
    self.width = width
    self.height = height
  }

  /// The normalised form of a rectangle in pixels.
  ///
  /// - Parameters:
  ///   - imageRect: the rectangle in pixels.
  ///   - size: the image's size.
  ///   - origin: the corner that `imageRect` counts from.
  public init(imageRect: ImageRect, in size: ImageSize, origin: CoordinateOrigin = .lowerLeft) {
    let (wide, high) = (Double(size.width), Double(size.height))
    let y = origin == .lowerLeft ? imageRect.y : high - imageRect.y - imageRect.height
    self.init(x: imageRect.x / wide, y: y / high, width: imageRect.width / wide, height: imageRect.height / high)
  }

  /// The middle of the rectangle.
  public var center: NormalizedPoint { NormalizedPoint(x: origin.x + width / 2, y: origin.y + height / 2) }

  /// The rectangle in pixels of an image of this size.
  ///
  /// - Parameters:
  ///   - size: the image's size.
  ///   - origin: the corner that the result counts from.
  public func toImageCoordinates(_ size: ImageSize, origin: CoordinateOrigin = .lowerLeft) -> ImageRect {
    let y = origin == .lowerLeft ? self.origin.y : 1 - self.origin.y - height
    let (wide, high) = (Double(size.width), Double(size.height))
    return ImageRect(x: self.origin.x * wide, y: y * high, width: width * wide, height: height * high)
  }

  /// The same rectangle, counted from the other corner on the left.
  public func verticallyFlipped() -> NormalizedRect {
    NormalizedRect(x: origin.x, y: 1 - origin.y - height, width: width, height: height)
  }

  /// Whether its numbers are numbers, and none is infinite.
  var isFinite: Bool { [origin.x, origin.y, width, height].allSatisfy(\.isFinite) }

  /// Whether it has an area and lies within the image.
  var isWithinImage: Bool {
    // Sums of fractions such as 0.1 + 0.9 may pass 1 by a rounding.
    let slack = 1e-9
    return width > 0 && height > 0 && origin.x >= -slack && origin.y >= -slack && origin.x + width <= 1 + slack
      && origin.y + height <= 1 + slack
  }
}
