internal import CKelvinSupport
import KelvinIsolation

/// A decoded image: pixels as stored, and their orientation.
public struct DecodedImage: Hashable, Sendable {
  /// The pixels in sRGB as ``PixelFormat/rgb8``; transparent parts are composed on black.
  public let pixels: PixelBuffer
  /// The given orientation, else the file's own, else ``ImageOrientation/up``.
  public let orientation: ImageOrientation

  /// The width of the upright image.
  public var width: Int { orientation.swapsAxes ? pixels.height : pixels.width }
  /// The height of the upright image.
  public var height: Int { orientation.swapsAxes ? pixels.width : pixels.height }

  package init(pixels: PixelBuffer, orientation: ImageOrientation) {
    self.pixels = pixels
    self.orientation = orientation
  }
}

/// Functions that decode and encode image files with libvips, which is opened on first use.
///
/// Decodes BMP itself, and JPEG, PNG, WebP, TIFF, GIF (the first frame), HEIF and AVIF as far as libvips supports them.
/// Embedded colour profiles are converted to sRGB, except those of BMP, and alpha is composed on black. All functions
/// block, and may be called from any thread.
///
/// ```swift
/// let image = try ImageCodec.decode(path: "owl.heic")
/// try Data(ImageCodec.encode(image.pixels, as: .jpeg(quality: 90))).write(to: URL(filePath: "owl.jpg"))
/// ```
public enum ImageCodec {
  /// The largest number of pixels. Larger images are rejected by their header.
  public static let maximumPixels = 64 * 1024 * 1024
  /// The largest number of bytes. Larger files are rejected before they are read.
  package static let maximumFileBytes = 1 << 30

  /// Opens libvips, or starts a worker with isolation, so that the first image does not wait. Further calls do nothing.
  ///
  /// - Throws: ``ImageError`` (`decoderMissing`) with the loader's message, and the package to install where the
  ///   library is absent.
  package static func prepare() throws(ImageError) {
    guard Isolation.standard == .worker else { return try openLibrary() }
    do throws(WorkerFailure) { try WorkerPool.standard.prepare() } catch { throw ImageError(error, "libvips") }
  }

  private static func openLibrary() throws(ImageError) {
    guard let reason = ck_image_prepare() else { return }
    throw ImageError(
      .decoderMissing, "libvips", "images cannot be decoded:  \(String(cString: reason))",
      remedy: kelvin_library_is_absent(reason) ? "install the package libvips42" : nil)
  }

  /// Decodes an encoded image.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the image in errors.
  ///   - orientation: The orientation, in place of the file's own.
  ///   - maximumPixels: The largest width times height that is decoded.
  /// - Throws: ``ImageError``: `unknownFormat`, `tooLarge`, `corrupt` (also for a truncated image), `decoderMissing`.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, name: String, orientation: ImageOrientation? = nil,
    maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    if Isolation.standard == .worker {
      return try decodeInWorker(bytes, name: name, orientation: orientation, maximumPixels: maximumPixels)
    }
    return try decode(ImageSource(name: name, memory: bytes), orientation: orientation, maximumPixels: maximumPixels)
  }

  /// Decodes an encoded image. Only the parts that determine its pixels are read.
  static func decode(
    _ source: ImageSource, orientation: ImageOrientation?, maximumPixels: Int
  ) throws(ImageError) -> DecodedImage {
    let name = source.name
    let format = try format(of: source)
    guard let code = format.code else { return try bmp(source, orientation, maximumPixels: maximumPixels) }
    try openLibrary()
    guard ck_image_reads(code) != 0 else {
      throw ImageError(
        .unknownFormat, name, "the installed libvips cannot read \(format.rawValue)",
        remedy: "convert it to PNG or JPEG")
    }
    let stripped = try StrippedImage(of: source, format, maximumPixels: maximumPixels)
    let decoded = try withExtendedLifetime(stripped) { () throws(ImageError) -> DecodedImage in
      let file = Encoded(bytes: stripped.bytes.bytes, format: format, code: code, name: name)
      do throws(ImageError) {
        return try file.decode(file.strictest, maximumPixels, alone: false)
      } catch {
        if error.code != .corrupt { throw error }
        return try file.decodeKnowingWhy(maximumPixels)
      }
    }
    return DecodedImage(
      pixels: decoded.pixels, orientation: orientation ?? stripped.orientation ?? decoded.orientation)
  }

  private static func bmp(
    _ source: ImageSource, _ orientation: ImageOrientation?, maximumPixels: Int
  ) throws(ImageError) -> DecodedImage {
    let stripped = try StrippedImage(of: source, .bmp, maximumPixels: maximumPixels)
    return try withExtendedLifetime(stripped) { () throws(ImageError) in
      DecodedImage(
        pixels: try BMPImage.decode(stripped.bytes.bytes, name: source.name), orientation: orientation ?? .up)
    }
  }

  /// Decodes an encoded image in an array.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the image in errors.
  ///   - orientation: The orientation, in place of the file's own.
  ///   - maximumPixels: The largest width times height that is decoded.
  /// - Throws: ``ImageError``: `unknownFormat`, `tooLarge`, `corrupt` (also for a truncated image), `decoderMissing`.
  public static func decode(
    _ bytes: [UInt8], name: String = "image", orientation: ImageOrientation? = nil,
    maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImageError) in
      try decode(UnsafeRawBufferPointer(bytes), name: name, orientation: orientation, maximumPixels: maximumPixels)
    }
  }

  /// The encodings in which images are written.
  public enum Encoding: Hashable, Sendable {
    /// PNG: lossless, with grey and alpha preserved.
    case png
    /// JPEG: lossy and without alpha; `quality` is in 1...100.
    case jpeg(quality: Int)

    fileprivate func suffix(_ level: Int?) -> String {
      switch self {
      case .png: level.map { ".png[compression=\(min(max($0, 0), 9))]" } ?? ".png"
      case .jpeg(let quality): ".jpg[Q=\(min(max(quality, 1), 100))]"
      }
    }
  }

  /// Encodes an image.
  ///
  /// - Parameters:
  ///   - pixels: The upright pixels; no orientation is written.
  ///   - encoding: The encoding of the file.
  ///   - level: The compression level of a PNG, 0...9; nil for libvips' default, 6.
  ///   - name: The name of the image in errors.
  /// - Returns: The bytes of the file.
  /// - Throws: ``ImageError`` (`encodingFailed`, `decoderMissing`).
  public static func encode(
    _ pixels: PixelBuffer, as encoding: Encoding = .png, level: Int? = nil, name: String = "output"
  ) throws(ImageError) -> [UInt8] {
    try openLibrary()
    let pixels = pixels.inBytes.withRedFirst
    ck_image_enter(0)
    defer { ck_image_leave() }
    var message = Message()
    var size = 0
    let block = pixels.bytes.withUnsafeBufferPointer { bytes in
      ck_image_encode(
        bytes.baseAddress, Int32(clamping: pixels.width), Int32(clamping: pixels.height),
        Int32(pixels.format.channelCount), encoding.suffix(level), &size, &message.bytes, message.bytes.count)
    }
    guard let block else {
      throw ImageError(.encodingFailed, name, "\(pixels.width) x \(pixels.height) pixels: \(message.text)")
    }
    defer { ck_image_free(block) }
    return [UInt8](UnsafeRawBufferPointer(start: block, count: size))
  }
}

/// An encoded image of a known format.
private struct Encoded {
  let bytes: UnsafeRawBufferPointer
  let format: ImageFormat
  let code: ck_image_format
  let name: String

  /// A JPEG decoder reports lost data as a warning and fills the rest with grey. The other decoders use warnings for
  /// irregular metadata.
  var strictest: ck_image_tolerance { format == .jpeg ? CK_IMAGE_REFUSE_WARNINGS : CK_IMAGE_REFUSE_ERRORS }

  /// Returns whether a warning of the JPEG decoder does not affect the pixels.
  func isHarmless(_ error: ImageError) -> Bool {
    let warnings = ["extraneous bytes before marker", "Unknown Adobe color transform", "unknown JFIF revision"]
    return error.code == .corrupt && warnings.contains { error.reason.contains($0) }
  }

  /// Decodes a rejected file again while no other thread decodes, which makes the error's reason reliable. Harmless
  /// warnings are ignored.
  func decodeKnowingWhy(_ maximumPixels: Int) throws(ImageError) -> DecodedImage {
    do throws(ImageError) {
      return try decode(strictest, maximumPixels, alone: true)
    } catch {
      guard strictest == CK_IMAGE_REFUSE_WARNINGS, isHarmless(error) else { throw error }
      return try decode(CK_IMAGE_REFUSE_ERRORS, maximumPixels, alone: true)
    }
  }

  /// - Parameter alone: Whether other threads are kept from decoding, which makes the error's reason reliable.
  func decode(
    _ tolerance: ck_image_tolerance, _ maximumPixels: Int, alone: Bool
  ) throws(ImageError) -> DecodedImage {
    ck_image_enter(alone ? 1 : 0)
    defer { ck_image_leave() }
    var header = ck_image_header()
    var message = Message()
    guard
      let image = ck_image_open(
        bytes.baseAddress, bytes.count, code, tolerance, &header, &message.bytes, message.bytes.count)
    else { throw ImageError(.corrupt, name, "not a valid \(format.rawValue) file: \(message.text)") }
    defer { ck_image_close(image) }
    let width = Int(header.width)
    let height = Int(header.height)
    guard width > 0, height > 0, width <= maximumPixels / height else {
      throw ImageError.tooLarge(name, width, height, maximumPixels)
    }
    var failed = false
    let count = width * height * PixelFormat.rgb8.channelCount
    let pixels = [UInt8](unsafeUninitializedCapacity: count) { pixels, initialized in
      failed = ck_image_read(image, pixels.baseAddress, count, &message.bytes, message.bytes.count) != 0
      initialized = failed ? 0 : count
    }
    if failed {
      throw ImageError(
        .corrupt, name,
        "the \(width) x \(height) \(format.rawValue) image cannot be decoded completely:  \(message.text)")
    }
    let said = ImageOrientation(rawValue: Int(header.orientation)) ?? .up
    return DecodedImage(
      pixels: PixelBuffer(trusted: pixels, width: width, height: height, format: .rgb8),
      orientation: said == .up && format == .png ? Self.orientation(inCommentsOf: image) ?? said : said)
  }
}

extension Encoded {
  /// Reads the orientation that ImageMagick stores in a PNG: an EXIF block in a text chunk, as hexadecimal digits after
  /// a heading.
  fileprivate static func orientation(inCommentsOf image: OpaquePointer) -> ImageOrientation? {
    for key in EXIFBlock.pngKeywords {
      guard let text = ck_image_comment(image, key) else { continue }
      let lines = String(cString: text).split(whereSeparator: \.isNewline)
      guard lines.count > 2, let block = EXIFBlock(hexadecimal: lines.dropFirst(2).joined()) else { continue }
      return block.orientation
    }
    return nil
  }
}

/// A buffer for an error message of libvips.
private struct Message {
  var bytes = [CChar](repeating: 0, count: 512)

  var text: String {
    let text = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.isEmpty ? "the decoder gives no reason" : text
  }
}

extension PixelBuffer {
  /// The image in an order of channels that libvips accepts: ``PixelFormat/rgba8`` where there is alpha, else
  /// unchanged.
  fileprivate var withRedFirst: PixelBuffer {
    guard format != .rgba8, let alpha = format.alphaOffset else { return self }
    let (own, offsets) = (bytes, format.colorOffsets)
    var turned = own
    for pixel in stride(from: 0, to: own.count, by: 4) {
      turned[pixel] = own[pixel + offsets.red]
      turned[pixel + 1] = own[pixel + offsets.green]
      turned[pixel + 2] = own[pixel + offsets.blue]
      turned[pixel + 3] = own[pixel + alpha]
    }
    return PixelBuffer(trusted: turned, width: width, height: height, format: .rgba8)
  }
}
