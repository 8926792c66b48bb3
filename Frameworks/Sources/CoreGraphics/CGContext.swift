package import CoreVideo
public import Foundation

/// The quality of scaled images. Every quality uses the same filter.
public enum CGInterpolationQuality: Int32, Sendable {
  /// The quality of a new context.
  case `default`
  /// The same filter as the others.
  case none
  /// The same filter as the others.
  case low
  /// The same filter as the others.
  case high
  /// The same filter as the others.
  case medium
}

/// A bitmap of 8 bits per component in which images and rectangles are drawn. Its origin is the lower left corner.
public final class CGContext {
  private let memory: UnsafeMutableRawPointer
  private let isOwner: Bool
  fileprivate let layout: BitmapLayout
  private var states: [(transform: CGAffineTransform, fill: CGColor)] = []
  private var fill = CGColor(gray: 0, alpha: 1)

  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// The distance between rows in bytes.
  public let bytesPerRow: Int
  /// The layout of a pixel.
  public let bitmapInfo: CGBitmapInfo
  /// The color space.
  public let colorSpace: CGColorSpace?
  /// The map from drawn coordinates to pixels from the lower left.
  public private(set) var ctm = CGAffineTransform.identity
  /// The quality of scaled images, which has no effect.
  public var interpolationQuality = CGInterpolationQuality.default

  /// Creates a bitmap; nil for components of other than 8 bits, an invalid size, or another layout.
  ///
  /// - Parameters:
  ///   - data: the caller's memory, which outlives the context; nil for zeroed memory of the context.
  ///   - bytesPerRow: the distance between rows; 0 for rows without gaps.
  public init?(
    data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
    space: CGColorSpace, bitmapInfo: UInt32
  ) {
    let info = CGBitmapInfo(rawValue: bitmapInfo)
    let isGray = space.numberOfComponents == 1 || bitmapInfo & 0x1F == CGImageAlphaInfo.alphaOnly.rawValue
    guard bitsPerComponent == 8, width > 0, height > 0, width <= 1 << 20, height <= 1 << 20,
      let layout = BitmapLayout(bitsPerPixel: isGray ? 8 : 32, info: info)
    else { return nil }
    let row = bytesPerRow == 0 ? width * layout.byteCount : bytesPerRow
    guard row >= width * layout.byteCount, row <= 1 << 30 else { return nil }
    isOwner = data == nil
    memory = data ?? .allocate(byteCount: row * height, alignment: 64)
    if data == nil { memory.initializeMemory(as: UInt8.self, repeating: 0, count: row * height) }
    (self.width, self.height, self.bytesPerRow, self.layout) = (width, height, row, layout)
    (self.bitmapInfo, colorSpace) = (info, space)
  }

  deinit { if isOwner { memory.deallocate() } }

  /// The address of the top row.
  public var data: UnsafeMutableRawPointer? { memory }

  /// Returns a copy of the bitmap.
  public func makeImage() -> CGImage? {
    CGImage(copying: memory, width, height, bytesPerRow: bytesPerRow, layout)
  }

  /// Draws an image into a rectangle, on top of the bitmap.
  public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {
    guard rect.width > 0, rect.height > 0 else { return }
    let place = CGAffineTransform(
      a: rect.width / CGFloat(image.width), b: 0, c: 0, d: -rect.height / CGFloat(image.height), tx: rect.minX,
      ty: rect.maxY)
    let map = place.concatenating(ctm).concatenating(flipped)
    guard map.a * map.d - map.b * map.c != 0 else { return }
    ImagePainter(image.kelvin, through: map).paint(width: width, height: height) { x, y, pixel in
      blend(pixel, x, y)
    }
  }

  /// Fills a rectangle with the fill color, on top of the bitmap. The bounds of a rotated rectangle are filled.
  public func fill(_ rect: CGRect) {
    let pixel = fill.pixel
    forEachPixel(of: rect) { blend(pixel, $0, $1) }
  }

  /// Makes a rectangle transparent, or black if there is no alpha.
  public func clear(_ rect: CGRect) {
    let pixel = BytePixel(red: 0, green: 0, blue: 0, alpha: 0)
    forEachPixel(of: rect) { layout.store(pixel, at: address($0, $1)) }
  }

  /// Sets the fill color.
  public func setFillColor(_ color: CGColor) { fill = color }

  /// Sets the fill color.
  public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    fill = CGColor(red: red, green: green, blue: blue, alpha: alpha)
  }

  /// Sets the fill color to a gray.
  public func setFillColor(gray: CGFloat, alpha: CGFloat) { fill = CGColor(gray: gray, alpha: alpha) }

  /// Keeps the transform and the fill color until ``restoreGState()``.
  public func saveGState() { states.append((ctm, fill)) }

  /// Restores the transform and the fill color that were last saved.
  public func restoreGState() { if let last = states.popLast() { (ctm, fill) = last } }

  /// Moves the origin.
  public func translateBy(x: CGFloat, y: CGFloat) { ctm = ctm.translatedBy(x: x, y: y) }

  /// Scales coordinates.
  public func scaleBy(x: CGFloat, y: CGFloat) { ctm = ctm.scaledBy(x: x, y: y) }

  /// Rotates coordinates by an angle in radians.
  public func rotate(by angle: CGFloat) { ctm = ctm.rotated(by: angle) }

  /// Maps coordinates before the present transform.
  public func concatenate(_ transform: CGAffineTransform) { ctm = transform.concatenating(ctm) }

  /// From pixels above the lower left corner to pixels below the upper left one.
  private var flipped: CGAffineTransform { CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: CGFloat(height)) }

  fileprivate func address(_ x: Int, _ y: Int) -> UnsafeMutableRawPointer {
    memory + y * bytesPerRow + x * layout.byteCount
  }

  private func blend(_ pixel: BytePixel, _ x: Int, _ y: Int) {
    let at = address(x, y)
    layout.store(pixel.alpha == 255 ? pixel : pixel.over(layout.load(at)), at: at)
  }

  private func forEachPixel(of rect: CGRect, _ body: (_ x: Int, _ y: Int) -> Void) {
    let bounds = CGRect(x: 0, y: 0, width: width, height: height)
    let part = rect.applying(ctm).applying(flipped).intersection(bounds)
    guard !part.isNull else { return }
    for y in Int(part.minY.rounded())..<Int(part.maxY.rounded()) {
      for x in Int(part.minX.rounded())..<Int(part.maxX.rounded()) { body(x, y) }
    }
  }
}

extension CGContext {
  /// Replaces a pixel, counted from the top left.
  package func set(_ pixel: BytePixel, _ x: Int, _ y: Int) { layout.store(pixel, at: address(x, y)) }
}
