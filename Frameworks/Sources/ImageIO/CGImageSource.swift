public import CoreGraphics
public import CoreVideo
public import Foundation
import Kelvin
import Synchronization

/// An image file, which is decoded when its image or its properties are first asked for.
public final class CGImageSource: Sendable {
  private let decode: @Sendable () -> DecodedImage?
  private let decoded = Mutex<DecodedImage??>(nil)

  init(_ decode: @escaping @Sendable () -> DecodedImage?) { self.decode = decode }

  var image: DecodedImage? {
    decoded.withLock { decoded in
      if let decoded { return decoded }
      let image = decode()
      decoded = .some(image)
      return image
    }
  }
}

/// The orientation in a dictionary of properties, as a number.
public nonisolated(unsafe) let kCGImagePropertyOrientation: CFString = "Orientation"
/// The width in a dictionary of properties, in stored pixels.
public nonisolated(unsafe) let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
/// The height in a dictionary of properties, in stored pixels.
public nonisolated(unsafe) let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
/// Ignored: an image is decoded once.
public nonisolated(unsafe) let kCGImageSourceShouldCache: CFString = "kCGImageSourceShouldCache"
/// Ignored: a thumbnail is always made.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailFromImageAlways: CFString =
  "kCGImageSourceCreateThumbnailFromImageAlways"
/// The length of the longer side of a thumbnail in pixels.
public nonisolated(unsafe) let kCGImageSourceThumbnailMaxPixelSize: CFString = "kCGImageSourceThumbnailMaxPixelSize"
/// Whether a thumbnail is turned upright.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailWithTransform: CFString =
  "kCGImageSourceCreateThumbnailWithTransform"

/// Creates a source of an image file; nil if there is no such file.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
  guard let path = url.path, FileManager.default.fileExists(atPath: path) else { return nil }
  return CGImageSource { try? ImageCodec.decode(path: path) }
}

/// Creates a source of the bytes of an image file; nil if there are no bytes.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  let bytes = [UInt8](data as Data)
  return bytes.isEmpty ? nil : CGImageSource { try? ImageCodec.decode(bytes) }
}

/// Returns the number of images: 1, or 0 if the file cannot be decoded.
public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { source.image == nil ? 0 : 1 }

/// Returns the first image as it is stored; nil for other indices, and if the file cannot be decoded.
public func CGImageSourceCreateImageAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
  index == 0 ? source.image.map { CGImage($0.pixels) } : nil
}

/// Returns the size and the orientation of the first image.
public func CGImageSourceCopyPropertiesAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? {
  guard index == 0, let image = source.image else { return nil }
  let properties: [CFString: Any] = [
    kCGImagePropertyPixelWidth: image.pixels.width, kCGImagePropertyPixelHeight: image.pixels.height,
    kCGImagePropertyOrientation: UInt32(image.orientation.rawValue),
  ]
  return properties as CFDictionary
}

/// Returns the first image, scaled so that its longer side has at most ``kCGImageSourceThumbnailMaxPixelSize`` pixels.
public func CGImageSourceCreateThumbnailAtIndex(
  _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? {
  guard index == 0, let image = source.image else { return nil }
  let turns = (options?[kCGImageSourceCreateThumbnailWithTransform] as? NSNumber)?.boolValue ?? false
  let orientation = turns ? image.orientation : .up
  let (wide, high) =
    orientation.swapsAxes ? (image.pixels.height, image.pixels.width) : (image.pixels.width, image.pixels.height)
  let longer = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.intValue ?? max(wide, high)
  let scale = min(Double(longer) / Double(max(wide, high)), 1)
  let size = [wide, high].map { max(Int((Double($0) * scale).rounded()), 1) }
  return (try? image.pixels.resized(width: size[0], height: size[1], orientation: orientation)).map { CGImage($0) }
}
