internal import Glibc

extension ImageFile {
  /// Decodes the picture in a file. Errors name it by `path`.
  ///
  /// - Throws: ``ImageError``: `unreadable` for what is not a readable regular file, and whatever decoding its bytes
  ///   throws.
  package static func decode(
    path: String, orientation: ImageOrientation? = nil, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> DecodedImage {
    try decode(try read(path), name: path, orientation: orientation, maximumPixels: maximumPixels)
  }

  private static func read(_ path: String) throws(ImageError) -> [UInt8] {
    // A pipe without a writer must not stop us here.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
    var failure: ImageError?
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
      while count < size {
        let got = Glibc.read(file, bytes.baseAddress.map { $0 + count }, size - count)
        if got < 0 && errno == EINTR { continue }
        if got < 0 { failure = ImageError(.unreadable, path, "cannot be read: \(systemReason())") }
        if got <= 0 { break }
        count += got
      }
    }
    if let failure { throw failure }
    return bytes
  }

  private static func systemReason() -> String { String(cString: strerror(errno)) }
}
