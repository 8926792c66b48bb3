/// The orientation of a stored image, numbered as in EXIF.
///
/// The names tell on which side of the upright image the first stored row is. `right` is an image that appears upright
/// after a quarter turn clockwise, as most cameras store portraits.
public enum ImageOrientation: Int, Hashable, Sendable, CaseIterable {
  /// The stored image is upright.
  case up = 1
  /// The stored image is mirrored left to right.
  case upMirrored = 2
  /// The stored image is rotated by 180 degrees.
  case down = 3
  /// The stored image is mirrored top to bottom.
  case downMirrored = 4
  /// The stored image is mirrored across the diagonal from top left to bottom right.
  case leftMirrored = 5
  /// The stored image must be rotated by a quarter turn clockwise.
  case right = 6
  /// The stored image is mirrored across the diagonal from top right to bottom left.
  case rightMirrored = 7
  /// The stored image must be rotated by a quarter turn counter-clockwise.
  case left = 8

  /// Whether width and height are swapped between the stored and the upright image.
  public var swapsAxes: Bool { rawValue >= 5 }

  /// The orientation that additionally rotates the upright image counter-clockwise by 90 degrees.
  package var turnedCounterClockwise: ImageOrientation {
    switch self {
    case .up: .left
    case .left: .down
    case .down: .right
    case .right: .up
    case .upMirrored: .leftMirrored
    case .leftMirrored: .downMirrored
    case .downMirrored: .rightMirrored
    case .rightMirrored: .upMirrored
    }
  }

  /// Whether the stored x coordinate decreases as the corresponding upright coordinate increases.
  ///
  /// Without swapped axes the upright pixel (x, y) is the stored pixel (x', y') with x' = x or width - 1 - x and y' = y
  /// or height - 1 - y. With swapped axes x' follows y and y' follows x.
  package var reversesStoredX: Bool {
    switch self {
    case .upMirrored, .down, .rightMirrored, .left: true
    case .up, .downMirrored, .leftMirrored, .right: false
    }
  }

  /// Whether the stored y coordinate decreases as the corresponding upright coordinate increases.
  package var reversesStoredY: Bool {
    switch self {
    case .down, .downMirrored, .right, .rightMirrored: true
    case .up, .upMirrored, .leftMirrored, .left: false
    }
  }
}
