public import CoreVideo
public import Foundation
public import Kelvin

/// The images that a feature accepts.
public final class MLImageConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: ImageConstraint

  init(_ constraint: ImageConstraint) { kelvin = constraint }

  /// The default width in pixels.
  public var pixelsWide: Int { kelvin.pixelsWide }
  /// The default height in pixels.
  public var pixelsHigh: Int { kelvin.pixelsHigh }
  /// The usual pixel format of a buffer for the feature. Predictions accept the other formats, too.
  public var pixelFormatType: OSType {
    if kelvin.isHalfPrecision { return kCVPixelFormatType_OneComponent16Half }
    return kelvin.channelOrder == .grayscale ? kCVPixelFormatType_OneComponent8 : kCVPixelFormatType_32BGRA
  }
  /// The allowed sizes.
  public var sizeConstraint: MLImageSizeConstraint { MLImageSizeConstraint(kelvin.sizeConstraint) }
  /// The kind and the size of the image.
  public override var description: String {
    "\(kelvin.channelOrder == .grayscale ? "Grayscale" : "Color") \(pixelsWide) × \(pixelsHigh)"
  }
}

/// The kind of a size constraint, with Core ML's raw values.
public enum MLImageSizeConstraintType: Int, Sendable {
  /// Any size.
  case unspecified = 0
  /// One of several sizes.
  case enumerated = 2
  /// A width and a height within ranges.
  case range = 3
}

/// The allowed sizes of a feature's images.
public final class MLImageSizeConstraint: NSObject, Sendable {
  /// Kelvin's constraint.
  public let kelvin: ImageSizeConstraint

  init(_ constraint: ImageSizeConstraint) { kelvin = constraint }

  /// The kind of the constraint.
  public var type: MLImageSizeConstraintType {
    switch kelvin.type {
    case .unspecified: .unspecified
    case .enumerated: .enumerated
    case .range: .range
    }
  }
  /// The allowed widths in pixels.
  public var pixelsWideRange: NSRange { NSRange(kelvin.pixelsWideRange) }
  /// The allowed heights in pixels.
  public var pixelsHighRange: NSRange { NSRange(kelvin.pixelsHighRange) }
  /// The allowed sizes, if they are enumerated.
  public var enumeratedImageSizes: [MLImageSize] { kelvin.enumeratedImageSizes.map { MLImageSize($0) } }
}

/// The size of an image.
public final class MLImageSize: NSObject, Sendable {
  /// The width in pixels.
  public let pixelsWide: Int
  /// The height in pixels.
  public let pixelsHigh: Int

  init(_ size: ImageSizeConstraint.Size) { (pixelsWide, pixelsHigh) = (size.pixelsWide, size.pixelsHigh) }
}
