/// How a stored image is turned to be seen upright, numbered as in EXIF.
///
/// The names say where the image's top went when it was stored: `right` is an image that is shown upright after a
/// quarter turn clockwise, as most cameras write portraits.
public enum ImageOrientation: Int, Hashable, Sendable, CaseIterable {
  /// Shown as stored.
  case up = 1
  /// Mirrored left to right.
  case upMirrored = 2
  /// Turned by half a turn.
  case down = 3
  /// Mirrored top to bottom.
  case downMirrored = 4
  /// Mirrored across the diagonal from top left to bottom right.
  case leftMirrored = 5
  /// Turned a quarter turn clockwise to be upright.
  case right = 6
  /// Mirrored across the diagonal from top right to bottom left.
  case rightMirrored = 7
  /// Turned a quarter turn counter-clockwise to be upright.
  case left = 8

  /// Whether the upright image is as wide as the stored one is high.
  public var swapsAxes: Bool { rawValue >= 5 }

  /// The orientation that shows the image as this one does and then turned 90 degrees counter-clockwise.
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

  /// Whether going right or down in the upright image walks the stored x axis backwards.
  ///
  /// The upright pixel (x, y) is the stored pixel (x', y') with, when the axes are not swapped, x' = x or width - 1 - x
  /// and y' = y or height - 1 - y; when they are, x' follows y and y' follows x.
  package var reversesStoredX: Bool {
    switch self {
    case .upMirrored, .down, .rightMirrored, .left: true
    case .up, .downMirrored, .leftMirrored, .right: false
    }
  }

  /// Whether going right or down in the upright image walks the stored y axis backwards.
  package var reversesStoredY: Bool {
    switch self {
    case .down, .downMirrored, .right, .rightMirrored: true
    case .up, .upMirrored, .leftMirrored, .left: false
    }
  }
}
