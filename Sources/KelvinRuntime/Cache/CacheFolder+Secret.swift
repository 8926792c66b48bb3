import Glibc
import KelvinBasics
import KelvinGraph
import Synchronization

/// The secret of a cache: a file that only its user can read. It is put in place once, and all processes use that
/// file.
extension CacheFolder {
  static let secretName = "secret"

  /// Returns the current secret; emptying the folder also removes the secret. Nil if it is missing, malformed or
  /// readable by others.
  func storedSecret() throws(FileError) -> CacheSecret? {
    let state = status(Self.secretName).map { FileState($0) }
    if let known = knownSecret.withLock(\.self), known.state == state { return known.secret }
    let found = state == nil ? nil : try readSecret()
    knownSecret.withLock { $0 = found }
    return found?.secret
  }

  private func readSecret() throws(FileError) -> (secret: CacheSecret, state: FileState)? {
    try inFolder(of: Self.secretName, creates: false) { (folder, last) throws(FileError) in
      let (file, status) = try openForReading(last, in: folder, Self.secretName)
      guard trust.objection(toSecret: status) == nil, file.byteCount == CacheSecret.byteCount else { return nil }
      let bytes = try Bytes(reading: file)
      guard let secret = CacheSecret(bytes.withUnsafeBytes { Array($0) }), let state = bytes.state else { return nil }
      return (secret, state)
    }
  }

  /// Returns the existing secret or creates one. If several processes create one at the same time, one of them wins
  /// and all use its secret, whether or not locks work.
  ///
  /// - Parameter replaces: whether an unusable secret file is replaced. Only set this while holding the folder's
  ///   lock: two processes would replace each other's secret.
  /// - Throws: `FileError` if the file system cannot restrict a file to its user.
  func madeSecret(replaces: Bool) throws(FileError) -> CacheSecret? {
    if let secret = try storedSecret() { return secret }
    let new = Bytes(CacheSecret.newBytes())
    try inFolder(of: Self.secretName, creates: true) { (folder, last) throws(FileError) in
      try new.withUnsafeBytes { (bytes) throws(FileError) in
        try writeBeside(Self.secretName, [bytes], in: folder) { (temporary, status) throws(FileError) in
          if let objection = trust.objection(toSecret: status) {
            throw FileError(path: "\(path)/\(Self.secretName)", action: "keep", reason: objection)
          }
          if calls.link(folder, temporary, last) != 0 {
            guard errno == EEXIST else { throw failure("write", Self.secretName) }
            if replaces, try storedSecret() == nil {
              guard calls.rename(folder, temporary, last) == 0 else { throw failure("write", Self.secretName) }
              return
            }
          }
          _ = calls.remove(folder, temporary)
        }
      }
      _ = calls.sync(folder)
    }
    return try storedSecret()
  }
}
