public import CoreGraphics
public import CoreVideo
public import Foundation
import Kelvin

/// An image file that is written by ``CGImageDestinationFinalize(_:)``: PNG or JPEG.
public final class CGImageDestination {
  enum Target {
    case file(URL)
    case data(NSMutableData)
  }

  let target: Target
  let isJPEG: Bool
  var image: CGImage?
  var quality = 90

  init(_ target: Target, _ type: CFString) {
    self.target = target
    isJPEG = "\(type)".hasSuffix("jpeg") || "\(type)".hasSuffix("jpg")
  }
}

/// The quality of a JPEG, 0…1.
public nonisolated(unsafe) let kCGImageDestinationLossyCompressionQuality: CFString =
  "kCGImageDestinationLossyCompressionQuality"

/// Creates a file for an image; nil if the type is neither `public.png` nor `public.jpeg`.
public func CGImageDestinationCreateWithURL(
  _ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  isKnown(type) ? CGImageDestination(.file(url as URL), type) : nil
}

/// Creates a file for an image in memory; nil if the type is neither `public.png` nor `public.jpeg`.
public func CGImageDestinationCreateWithData(
  _ data: NSMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  isKnown(type) ? CGImageDestination(.data(data), type) : nil
}

/// Sets the image to write.
public func CGImageDestinationAddImage(
  _ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) {
  destination.image = image
  if let quality = (properties?[kCGImageDestinationLossyCompressionQuality] as? NSNumber)?.doubleValue {
    destination.quality = Int(min(max(quality, 0), 1) * 99) + 1
  }
}

/// Writes the image. Returns whether it could be written.
@discardableResult
public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool {
  let encoding: ImageCodec.Encoding = destination.isJPEG ? .jpeg(quality: destination.quality) : .png
  guard let image = destination.image, let bytes = try? ImageCodec.encode(image.kelvin, as: encoding) else {
    return false
  }
  switch destination.target {
  case .file(let url): return (try? Data(bytes).write(to: url)) != nil
  case .data(let data):
    data.append(Data(bytes))
    return true
  }
}

private func isKnown(_ type: CFString) -> Bool {
  ["public.png", "public.jpeg", "public.jpg"].contains("\(type)")
}
