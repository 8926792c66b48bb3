import CKelvinSupport
package import KelvinBasics

/// The digest by which the index identifies a file's content.
package enum ContentDigest {
  private static let pieceSize = 1 << 20

  /// Returns the SHA-256 digest of a file's content.
  ///
  /// - Throws: `FileError`, also where the file is truncated during reading.
  package static func digest(of file: OpenFile) throws(FileError) -> [UInt8] {
    var state = kelvin_sha256()
    kelvin_sha256_begin(&state)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: min(pieceSize, max(file.byteCount, 1)), alignment: 64)
    defer { piece.deallocate() }
    var done = 0
    while done < file.byteCount {
      let part = UnsafeMutableRawBufferPointer(rebasing: piece.prefix(file.byteCount - done))
      try file.read(into: part, at: done)
      kelvin_sha256_add(&state, part.baseAddress, part.count)
      done += part.count
    }
    var digest = [UInt8](repeating: 0, count: 32)
    kelvin_sha256_end(&state, &digest)
    return digest
  }
}
