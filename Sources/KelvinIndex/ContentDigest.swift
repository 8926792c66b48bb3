import CKelvinSupport
package import KelvinBasics

/// By what an image is known wherever it lies.
package enum ContentDigest {
  private static let pieceSize = 1 << 20

  /// SHA-256 of all that a file has.
  ///
  /// - Throws: `FileError`, also where it is cut short meanwhile.
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
