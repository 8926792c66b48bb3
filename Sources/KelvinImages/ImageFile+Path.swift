internal import Glibc
internal import KelvinBasics

extension ImageFile {
  /// Decodes the picture in a file, of which no more is read than it takes to see it. Errors name it by `path`.
  ///
  /// - Throws: ``ImageError``: `unreadable` for what is not a readable regular file, and whatever decoding its bytes
  ///   throws.
  package static func decode(
    path: String, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    // A pipe without a writer must not stop us here.
    let file = open(path.pathBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw ImageError(.unreadable, path, "cannot be opened: \(systemReason())") }
    defer { _ = close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      throw ImageError(.unreadable, path, "is a folder", remedy: "name the pictures in it")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ImageError(.unreadable, path, "is not a regular file")
    }
    let size = Int(status.st_size)
    guard size <= maximumFileBytes else {
      throw ImageError(.tooLarge, path, "\(size) bytes, at most \(maximumFileBytes) are read")
    }
    let source = PictureSource(name: path, count: size) { (offset, target) throws(ImageError) in
      try read(file, path, offset, target)
    }
    return try decode(source, orientation: orientation, maximumPixels: maximumPixels)
  }

  private static func read(
    _ file: Int32, _ path: String, _ offset: Int, _ target: UnsafeMutableRawBufferPointer
  ) throws(ImageError) {
    var done = 0
    while done < target.count {
      let got = pread(file, target.baseAddress.map { $0 + done }, target.count - done, off_t(offset + done))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw ImageError(.unreadable, path, "cannot be read: \(systemReason())") }
      guard got > 0 else {
        throw ImageError(.corrupt, path, "it ended after \(offset + done) bytes: it was cut short while it was read")
      }
      done += got
    }
  }

  private static func systemReason() -> String { String(cString: strerror(errno)) }
}
