/// What is needed of an encoded image to see it: its frame, or its first one, and its colours. Comments, thumbnails,
/// further pages and other blocks are left in the file, so that memory is bounded by the image's own size whatever the
/// file holds; what the blocks say of the orientation is read here.
struct StrippedImage {
  /// An encoded image of the same format.
  let bytes: EncodedBytes
  /// As a block of the file says; nil where none does.
  var orientation: ImageOrientation?

  /// Reads what is needed of a file.
  ///
  /// - Parameter maximumPixels: the largest width times height that is decoded.
  /// - Throws: ``ImageError``: `tooLarge` where the header's size, the encoded image or its colour profile is,
  ///   `corrupt` where the file ends inside one of its parts.
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

/// What an image may take, by the size that its header gives it.
struct ImageLimits {
  /// Bytes of a colour profile. Those of printers take up to 3 MB.
  static let profile = 4 << 20
  /// Bytes of a block with the orientation in it.
  static let orientationBlock = 1 << 16
  /// No encoding takes more for a pixel: four channels of 64 bits, and its own overhead.
  private static let bytesPerPixel = 40
  /// Bytes for tables and colours that do not depend on the size.
  private static let overhead = (1 << 20) + profile

  /// Parts that a file may have: its segments, chunks, frames, strips or tiles. Each takes time, whatever it holds.
  static let parts = 1 << 18

  private let name: String
  private let maximumPixels: Int
  /// Bytes that the encoded image may take.
  private(set) var byteCount: Int
  private var partCount = 0

  init(_ name: String, _ maximumPixels: Int) {
    self.name = name
    self.maximumPixels = maximumPixels
    byteCount = Self.overhead
  }

  /// Takes the size in from a header. Sizes that are no sizes are left to the decoder.
  ///
  /// - Throws: `tooLarge`.
  mutating func setSize(_ width: Int, _ height: Int) throws(ImageError) {
    guard width > 0, height > 0 else { return }
    guard width <= maximumPixels / height else { throw ImageError.tooLarge(name, width, height, maximumPixels) }
    byteCount = max(byteCount, Self.overhead + width * height * Self.bytesPerPixel)
  }

  /// - Throws: `tooLarge` where so many bytes of an encoded image are more than one of its size can take.
  func check(_ count: Int) throws(ImageError) {
    guard count <= byteCount else {
      throw ImageError(
        .tooLarge, name, "its encoded pixels take \(count) bytes, an image of its size at most \(byteCount)",
        remedy: "save the image anew")
    }
  }

  /// Takes in that the file has more parts.
  ///
  /// - Throws: `tooLarge` where there are more than an image needs.
  mutating func add(parts count: Int = 1) throws(ImageError) {
    partCount = count > Self.parts ? count : partCount + count
    guard partCount <= Self.parts else {
      throw ImageError(
        .tooLarge, name, "it is in more than \(Self.parts) parts, of which no more are read",
        remedy: "save the image anew")
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
