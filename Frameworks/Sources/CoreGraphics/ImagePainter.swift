package import CoreVideo
import Foundation
package import Kelvin

/// An image that is drawn through an affine map.
package struct ImagePainter {
  private let source: ByteImage
  /// From pixels of the target to pixels of the source, both from the top left.
  private let inverse: CGAffineTransform
  private let place: CGRect

  /// Prepares an image for drawing.
  ///
  /// - Parameter map: from the image's pixels to those of the target, both from the top left. It must have an inverse.
  package init(_ image: PixelBuffer, through map: CGAffineTransform) {
    var (image, map) = (image, map)
    place = CGRect(x: 0, y: 0, width: image.width, height: image.height).applying(map)
    // Scaling along the axes uses the filter of predictions. Its result has no alpha.
    let width = (abs(map.a) * CGFloat(image.width)).rounded()
    let height = (abs(map.d) * CGFloat(image.height)).rounded()
    let (sizes, own) = (CGSize(width: width, height: height), CGSize(width: image.width, height: image.height))
    let isScaling = map.b == 0 && map.c == 0 && image.format.byteOffsets?.alpha == nil && sizes != own
    if isScaling, (1...1_048_576).contains(width), (1...1_048_576).contains(height),
      let scaled = try? image.resized(width: Int(width), height: Int(height))
    {
      map = CGAffineTransform(scaleX: own.width / width, y: own.height / height).concatenating(map)
      image = scaled
    }
    source = ByteImage(image)
    inverse = map.inverted()
  }

  /// Calls `body` with each pixel of the target that the image covers.
  ///
  /// - Parameters:
  ///   - width: the width of the target.
  ///   - height: the height of the target.
  ///   - clip: the part of the target to draw; nil for all of it.
  package func paint(
    width: Int, height: Int, clip: CGRect? = nil, _ body: (_ x: Int, _ y: Int, _ pixel: BytePixel) -> Void
  ) {
    let whole = CGRect(x: 0, y: 0, width: width, height: height)
    let part = place.insetBy(dx: -1, dy: -1).integral.intersection(clip.map { $0.intersection(whole) } ?? whole)
    guard !part.isNull, part.width > 0, part.height > 0 else { return }
    for y in Int(part.minY)..<Int(part.maxY.rounded(.up)) {
      for x in Int(part.minX)..<Int(part.maxX.rounded(.up)) {
        let point = CGPoint(x: CGFloat(x) + 0.5, y: CGFloat(y) + 0.5).applying(inverse)
        guard point.x >= 0, point.y >= 0, point.x <= CGFloat(source.width), point.y <= CGFloat(source.height) else {
          continue
        }
        body(x, y, sample(Double(point.x) - 0.5, Double(point.y) - 0.5))
      }
    }
  }

  /// Returns the bilinear value at a position, relative to the centre of the first pixel.
  private func sample(_ x: Double, _ y: Double) -> BytePixel {
    let (x, y) = (min(max(x, 0), Double(source.width - 1)), min(max(y, 0), Double(source.height - 1)))
    let (left, top) = (Int(x), Int(y))
    let (across, down) = (x - Double(left), y - Double(top))
    let first = source[left, top]
    if across < 1e-6, down < 1e-6 { return first }
    let (right, bottom) = (min(left + 1, source.width - 1), min(top + 1, source.height - 1))
    let (second, third, fourth) = (source[right, top], source[left, bottom], source[right, bottom])
    func mix(_ channel: KeyPath<BytePixel, UInt8>) -> UInt8 {
      let upper = Double(first[keyPath: channel]) * (1 - across) + Double(second[keyPath: channel]) * across
      let lower = Double(third[keyPath: channel]) * (1 - across) + Double(fourth[keyPath: channel]) * across
      return UInt8((upper * (1 - down) + lower * down).rounded())
    }
    return BytePixel(red: mix(\.red), green: mix(\.green), blue: mix(\.blue), alpha: mix(\.alpha))
  }
}

extension BytePixel {
  /// Returns the pixel on top of another.
  package func over(_ other: BytePixel) -> BytePixel {
    if alpha == 255 { return self }
    let (own, rest) = (Int(alpha) * 255, Int(other.alpha) * (255 - Int(alpha)))
    let total = own + rest
    guard total > 0 else { return BytePixel(red: 0, green: 0, blue: 0, alpha: 0) }
    func mix(_ own: UInt8, _ under: UInt8) -> UInt8 {
      UInt8((Int(own) * Int(alpha) * 255 + Int(under) * rest + total / 2) / total)
    }
    return BytePixel(
      red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue),
      alpha: UInt8((total + 127) / 255))
  }
}
