import Glibc
import Kelvin
import KelvinCollections

/// The program's standard input.
enum StandardInput {
  /// The name that stands for standard input among file names.
  static let name = "-"

  /// Reads all of standard input.
  ///
  /// - Throws: `ImageError` where it cannot be read, or is larger than the limit for images.
  fileprivate static func bytes() throws(ImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ImageError(.unreadable, "standard input", "cannot read it: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { return bytes }
      bytes += piece.prefix(count)
      guard bytes.count <= ImageCodec.maximumFileBytes else {
        throw ImageError(.tooLarge, "standard input", "at most \(ImageCodec.maximumFileBytes) bytes are read")
      }
    }
  }
}

extension DecodedImage {
  /// Decodes the image that a name on the command line stands for: a file, or standard input for `-`.
  ///
  /// - Throws: `ImageError`.
  init(_ file: ImageFileList.File, orientation: ImageOrientation?) throws(ImageError) {
    self =
      file.path == StandardInput.name
      ? try ImageCodec.decode(try StandardInput.bytes(), name: "standard input", orientation: orientation)
      : try ImageCodec.decode(path: file.path, below: file.folder, orientation: orientation)
  }
}
