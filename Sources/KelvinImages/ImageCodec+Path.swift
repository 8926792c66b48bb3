package import KelvinBasics
import KelvinIsolation

extension ImageCodec {
  /// Decodes the image in a file. Only the parts that determine its pixels are read. Errors name the image by `path`.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - orientation: The orientation, in place of the file's own.
  ///   - maximumPixels: The largest width times height that is decoded.
  /// - Throws: ``ImageError``: `unreadable` for a path that is not a readable regular file, and the errors of decoding.
  public static func decode(
    path: String, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    try decode(path: path, below: nil, orientation: orientation, maximumPixels: maximumPixels)
  }

  /// Decodes the image in a file that was found in a folder. No link below the folder is followed.
  ///
  /// - Throws: ``ImageError`` as for a path, and `unreadable` for a link.
  package static func decode(
    path: String, below folder: String?, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    let file: OpenFile
    do throws(FileError) { file = try OpenFile(path, below: folder) } catch { throw ImageError(error) }
    return try decode(file, orientation: orientation, maximumPixels: maximumPixels)
  }

  /// Decodes the image in an open file, as for a path.
  ///
  /// - Throws: ``ImageError`` as for a path.
  package static func decode(
    _ file: OpenFile, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    let path = file.path
    guard file.byteCount <= maximumFileBytes else {
      throw ImageError(.tooLarge, path, "\(file.byteCount) bytes, at most \(maximumFileBytes) are read")
    }
    if Isolation.standard == .worker {
      return try decode(file, in: .standard, orientation: orientation, maximumPixels: maximumPixels)
    }
    let source = ImageSource(name: path, count: file.byteCount) { (offset, target) throws(ImageError) in
      do throws(FileError) { try file.read(into: target, at: offset) } catch { throw ImageError(error) }
    }
    return try decode(source, orientation: orientation, maximumPixels: maximumPixels)
  }
}

extension ImageError {
  fileprivate init(_ error: FileError) {
    self.init(.unreadable, error.path, "cannot \(error.action) it: \(error.reason)")
  }
}
