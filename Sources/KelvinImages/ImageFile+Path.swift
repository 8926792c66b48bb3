package import KelvinBasics

extension ImageFile {
  /// Decodes the image in a file, of which no more is read than it takes to see it. Errors name it by `path`.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - orientation: overrides the orientation in the file.
  ///   - maximumPixels: the largest width times height that is decoded.
  /// - Throws: ``ImageError``: `unreadable` for what is not a readable regular file, and whatever decoding its bytes
  ///   throws.
  public static func decode(
    path: String, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    let file: OpenFile
    do throws(FileError) { file = try OpenFile(path) } catch { throw ImageError(error) }
    return try decode(file, orientation: orientation, maximumPixels: maximumPixels)
  }

  /// Decodes the image in an open file, as the file of a path.
  ///
  /// - Throws: ``ImageError`` as for a path.
  package static func decode(
    _ file: OpenFile, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    let path = file.path
    guard file.byteCount <= maximumFileBytes else {
      throw ImageError(.tooLarge, path, "\(file.byteCount) bytes, at most \(maximumFileBytes) are read")
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
