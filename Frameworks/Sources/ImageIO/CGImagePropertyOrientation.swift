@_exported public import CoreGraphics
public import Kelvin

/// The orientation of a stored image, numbered as in EXIF.
public enum CGImagePropertyOrientation: UInt32, Sendable {
  /// The stored image is upright.
  case up = 1
  /// The stored image is mirrored left to right.
  case upMirrored
  /// The stored image is rotated by 180 degrees.
  case down
  /// The stored image is mirrored top to bottom.
  case downMirrored
  /// The stored image is mirrored across the diagonal from top left to bottom right.
  case leftMirrored
  /// The stored image must be rotated by a quarter turn clockwise.
  case right
  /// The stored image is mirrored across the diagonal from top right to bottom left.
  case rightMirrored
  /// The stored image must be rotated by a quarter turn counterclockwise.
  case left

  /// Creates an orientation from Kelvin's.
  public init(_ orientation: ImageOrientation) { self = Self(rawValue: UInt32(orientation.rawValue)) ?? .up }

  /// Kelvin's orientation.
  public var kelvin: ImageOrientation { ImageOrientation(rawValue: Int(rawValue)) ?? .up }
}
