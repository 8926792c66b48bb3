/// The parts of an encoded image that determine its pixels: its only or first frame, and its colour information.
/// Comments, thumbnails, further pages and other blocks are omitted, so that memory is bounded by the image's own size.
/// The orientation is read from the omitted blocks.
struct StrippedImage {
  /// An encoded image of the same format.
  let bytes: EncodedBytes
  /// The orientation in a block of the file; nil where there is none.
  var orientation: ImageOrientation?

  /// Reads the required parts of a file.
  ///
  /// - Parameter maximumPixels: The largest width times height that is decoded.
  /// - Throws: ``ImageError``: `tooLarge` where the size in the header, the encoded image or its colour profile exceeds
  ///   a limit, `corrupt` where the file is truncated.
  init(of source: ImageSource, _ format: ImageFormat, maximumPixels: Int) throws(ImageError) {
    let stripped =
      switch format {
      case .png: try strippedPNG(source, ImageLimits(source.name, maximumPixels))
      case .jpeg: try strippedJPEG(source, ImageLimits(source.name, maximumPixels))
      case .webp: try strippedWebP(source, ImageLimits(source.name, maximumPixels))
      case .gif: try strippedGIF(source, ImageLimits(source.name, maximumPixels))
      case .tiff: try strippedTIFF(source, ImageLimits(source.name, maximumPixels))
      case .heif: try strippedHEIF(source, ImageLimits(source.name, maximumPixels))
      case .bmp: try strippedBMP(source, ImageLimits(source.name, maximumPixels))
      }
    self = stripped
  }

  init(_ bytes: EncodedBytes, orientation: ImageOrientation? = nil) {
    self.bytes = bytes
    self.orientation = orientation
  }
}

/// The limits of an encoded image, which depend on the size in its header.
struct ImageLimits {
  /// The largest colour profile in bytes. Profiles of printers take up to 3 MB.
  static let profile = 4 << 20
  /// The largest block with an orientation in bytes.
  static let orientationBlock = 1 << 16
  /// An upper bound for the bytes per pixel of any encoding: four channels of 64 bits, and the encoding's overhead.
  private static let bytesPerPixel = 40
  /// The bytes for tables and colours that do not depend on the size.
  private static let overhead = (1 << 20) + profile

  /// The largest number of parts of a file: segments, chunks, frames, strips or tiles. Each part takes time regardless
  /// of its length.
  static let parts = 1 << 18

  private let name: String
  private let maximumPixels: Int
  /// The largest size of the encoded image in bytes.
  private(set) var byteCount: Int
  private var partCount = 0

  init(_ name: String, _ maximumPixels: Int) {
    self.name = name
    self.maximumPixels = maximumPixels
    byteCount = Self.overhead
  }

  /// Applies the size in a header. Sizes that are not positive are left to the decoder to reject.
  ///
  /// - Throws: `tooLarge`.
  mutating func setSize(_ width: Int, _ height: Int) throws(ImageError) {
    guard width > 0, height > 0 else { return }
    guard width <= maximumPixels / height else { throw ImageError.tooLarge(name, width, height, maximumPixels) }
    byteCount = max(byteCount, Self.overhead + width * height * Self.bytesPerPixel)
  }

  /// Checks a number of bytes of the encoded image.
  ///
  /// - Throws: `tooLarge` where the number is implausible for an image of its size.
  func check(_ count: Int) throws(ImageError) {
    guard count <= byteCount else {
      throw ImageError(
        .tooLarge, name, "its encoded pixels take \(count) bytes, an image of its size at most \(byteCount)",
        remedy: "save the image again")
    }
  }

  /// Counts further parts of the file.
  ///
  /// - Throws: `tooLarge` where there are too many.
  mutating func add(parts count: Int = 1) throws(ImageError) {
    partCount = count > Self.parts ? count : partCount + count
    guard partCount <= Self.parts else {
      throw ImageError(
        .tooLarge, name, "it has more than \(Self.parts) parts, the most that are read",
        remedy: "save the image again")
    }
  }

  func checkProfile(_ count: Int) throws(ImageError) {
    guard count <= Self.profile else {
      throw ImageError(
        .tooLarge, name, "its colour profile takes \(count) bytes, at most \(Self.profile) are read",
        remedy: "convert it to sRGB")
    }
  }
}

extension ImageError {
  static func tooLarge(_ name: String, _ width: Int, _ height: Int, _ maximumPixels: Int) -> ImageError {
    ImageError(
      .tooLarge, name, "\(width) x \(height) pixels, at most \(maximumPixels) are decoded",
      remedy: "scale the image down first")
  }
}
