import CKelvinSupport
package import KelvinBasics

/// SHA-256 digests of files.
package enum FileDigest {
  /// Returns the digest of a file in 64 lower-case hexadecimal digits.
  ///
  /// - Throws: `PackagingError` with code `io`.
  package static func sha256(of file: OpenFile) throws(PackagingError) -> String {
    var state = kelvin_sha256()
    kelvin_sha256_begin(&state)
    let buffer = PieceBuffer()
    var done = 0
    while done < file.byteCount {
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer.all.prefix(file.byteCount - done))
      let place = done
      try PackagingError.wrapping { () throws(FileError) in try file.read(into: part, at: place) }
      kelvin_sha256_add(&state, part.baseAddress, part.count)
      done += part.count
    }
    var digest = [UInt8](repeating: 0, count: 32)
    kelvin_sha256_end(&state, &digest)
    return String(decoding: KeyText.digits(of: digest), as: UTF8.self)
  }
}
