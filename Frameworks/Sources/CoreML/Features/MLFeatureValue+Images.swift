public import CoreGraphics
public import CoreVideo
import Foundation
public import ImageIO
import Kelvin

extension MLFeatureValue {
  /// A key of the options that fit an image to a model's input.
  public struct ImageOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    /// Creates a key from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The region of the upright image to use: a `CGRect` in shares of its sides, from its lower left corner.
    public static let cropRect = ImageOption(rawValue: "MLFeatureValueImageOptionCropRect")
    /// The method that fits the image to the size: the raw value of a `VNImageCropAndScaleOption`. The default scales
    /// the whole image to fit.
    public static let cropAndScale = ImageOption(rawValue: "MLFeatureValueImageOptionCropAndScale")
  }

  /// Creates an image of a size and format from an image file, turned upright by its EXIF orientation.
  ///
  /// - Throws: `MLModelError`: `io` if the file is not an image, `featureType` for an invalid size, format or option.
  public convenience init(
    imageAt url: URL, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {
    let request = FittedImage(pixelsWide, pixelsHigh, pixelFormatType, options)
    self.init(pixelBuffer: try request.buffer(of: url, nil))
  }

  /// Creates an image of a size and format from an image file. The orientation replaces the file's own.
  ///
  /// - Throws: as `init(imageAt:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(
    imageAt url: URL, orientation: CGImagePropertyOrientation, pixelsWide: Int, pixelsHigh: Int,
    pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {
    let request = FittedImage(pixelsWide, pixelsHigh, pixelFormatType, options)
    self.init(pixelBuffer: try request.buffer(of: url, orientation.kelvin))
  }

  /// Creates an image for an input from an image file, turned upright by its EXIF orientation.
  ///
  /// - Throws: as `init(imageAt:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(imageAt url: URL, constraint: MLImageConstraint, options: [ImageOption: Any]?) throws {
    self.init(pixelBuffer: try FittedImage(constraint, options).buffer(of: url, nil))
  }

  /// Creates an image for an input from an image file. The orientation replaces the file's own.
  ///
  /// - Throws: as `init(imageAt:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(
    imageAt url: URL, orientation: CGImagePropertyOrientation, constraint: MLImageConstraint,
    options: [ImageOption: Any]?
  ) throws {
    self.init(pixelBuffer: try FittedImage(constraint, options).buffer(of: url, orientation.kelvin))
  }

  /// Creates an image of a size and format from an upright image.
  ///
  /// - Throws: `MLModelError` (`featureType`) for an invalid size, format or option.
  public convenience init(
    cgImage: CGImage, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {
    let request = FittedImage(pixelsWide, pixelsHigh, pixelFormatType, options)
    self.init(pixelBuffer: try request.buffer(of: cgImage.kelvin, .up))
  }

  /// Creates an image of a size and format from an image of an orientation.
  ///
  /// - Throws: as `init(cgImage:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(
    cgImage: CGImage, orientation: CGImagePropertyOrientation, pixelsWide: Int, pixelsHigh: Int,
    pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {
    let request = FittedImage(pixelsWide, pixelsHigh, pixelFormatType, options)
    self.init(pixelBuffer: try request.buffer(of: cgImage.kelvin, orientation.kelvin))
  }

  /// Creates an image for an input from an upright image.
  ///
  /// - Throws: as `init(cgImage:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(cgImage: CGImage, constraint: MLImageConstraint, options: [ImageOption: Any]?) throws {
    self.init(pixelBuffer: try FittedImage(constraint, options).buffer(of: cgImage.kelvin, .up))
  }

  /// Creates an image for an input from an image of an orientation.
  ///
  /// - Throws: as `init(cgImage:pixelsWide:pixelsHigh:pixelFormatType:options:)`.
  public convenience init(
    cgImage: CGImage, orientation: CGImagePropertyOrientation, constraint: MLImageConstraint,
    options: [ImageOption: Any]?
  ) throws {
    self.init(pixelBuffer: try FittedImage(constraint, options).buffer(of: cgImage.kelvin, orientation.kelvin))
  }
}

/// The size, format and method that an image is fitted by.
private struct FittedImage {
  let width: Int
  let height: Int
  let type: OSType
  let options: [MLFeatureValue.ImageOption: Any]

  init(_ width: Int, _ height: Int, _ type: OSType, _ options: [MLFeatureValue.ImageOption: Any]?) {
    (self.width, self.height, self.type, self.options) = (width, height, type, options ?? [:])
  }

  init(_ constraint: MLImageConstraint, _ options: [MLFeatureValue.ImageOption: Any]?) {
    self.init(constraint.pixelsWide, constraint.pixelsHigh, constraint.pixelFormatType, options)
  }

  func buffer(of url: URL, _ orientation: ImageOrientation?) throws -> CVPixelBuffer {
    let image: DecodedImage
    do { image = try ImageCodec.decode(path: url.path, orientation: orientation) } catch {
      throw MLModelError(.io, error.description)
    }
    return try buffer(of: image.pixels, image.orientation)
  }

  func buffer(of image: PixelBuffer, _ orientation: ImageOrientation) throws -> CVPixelBuffer {
    let (crop, method) = (try crop(), try method())
    let fitted: PixelBuffer
    do throws(ImageError) {
      var (image, orientation) = (image, orientation)
      if let crop {
        let upright = CGImage(try image.oriented(orientation))
        let (wide, high) = (CGFloat(upright.width), CGFloat(upright.height))
        let part = upright.cropping(
          to: CGRect(
            x: crop.minX * wide, y: (1 - crop.maxY) * high, width: crop.width * wide, height: crop.height * high))
        (image, orientation) = (part?.kelvin ?? upright.kelvin, .up)
      }
      fitted = try image.resized(width: width, height: height, method, orientation: orientation)
    } catch { throw MLModelError(.featureType, error.description) }
    guard let buffer = CVBuffer.copying(fitted, as: type) else {
      throw MLModelError(.featureType, "an image cannot be converted to the pixel format \(type)")
    }
    return buffer
  }

  private func crop() throws -> CGRect? {
    guard let given = options[.cropRect] else { return nil }
    guard let rect = given as? CGRect ?? (given as? NSValue)?.rectValue, rect.width > 0, rect.height > 0,
      rect.minX >= 0,
      rect.minY >= 0, rect.maxX <= 1.000001, rect.maxY <= 1.000001
    else { throw MLModelError(.featureType, "the region \(given) is not within the image, 1 x 1") }
    return rect
  }

  private func method() throws -> ImageCropAndScale {
    guard let given = options[.cropAndScale] else { return .scaleToFit }
    switch (given as? NSNumber)?.intValue {
    case 0: return .centerCrop
    case 1: return .scaleToFit
    case 2: return .scaleToFill
    case 257: return .scaleToFitPlus90CCWRotation
    case 258: return .scaleToFillPlus90CCWRotation
    default:
      throw MLModelError(.featureType, "'\(given)' is not the raw value of a VNImageCropAndScaleOption")
    }
  }
}
