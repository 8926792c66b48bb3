import Glibc
import Kelvin

/// What is sent to the program.
enum StandardInput {
  /// What stands for it among names of files.
  static let name = "-"

  /// All of it.
  ///
  /// - Throws: `ImageError` where it cannot be read, or is larger than an image may be.
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
      guard bytes.count <= ImageFile.maximumFileBytes else {
        throw ImageError(.tooLarge, "standard input", "at most \(ImageFile.maximumFileBytes) bytes are read")
      }
    }
  }
}

extension DecodedImage {
  /// The image that a name on the command line stands for: a file's, or for `-` what is sent to the program.
  ///
  /// - Throws: `ImageError`.
  init(named name: String, orientation: ImageOrientation?) throws(ImageError) {
    self =
      name == StandardInput.name
      ? try ImageFile.decode(try StandardInput.bytes(), name: "standard input", orientation: orientation)
      : try ImageFile.decode(path: name, orientation: orientation)
  }
}
