import Glibc
import KelvinBasics
import KelvinGraph
import Synchronization

/// The secret of a cache: a file that its user alone can read. It is put in place once, and everybody takes what is there.
extension CacheFolder {
  static let secretName = "secret"

  /// The secret as it is now: whoever empties the folder takes it along. Nil where there is none, or only one that others
  /// can read or that is none.
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

  /// The secret that is there, or a new one. Of several processes that make one at the same time one has its own, and all
  /// take that, whether or not locks work here.
  ///
  /// - Parameter replaces: whether what is there and serves for nothing is replaced. For a process that is alone with the
  ///   folder: two would replace each other's.
  /// - Throws: `FileError` where the system does not keep a file to its user.
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
