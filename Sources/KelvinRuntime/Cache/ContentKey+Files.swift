import Dispatch
package import Glibc
import KelvinBasics
import KelvinDevices
package import KelvinGraph
import Synchronization

extension ContentKey {
  /// The key of a model's contents, whatever its files are called.
  ///
  /// - Parameters:
  ///   - memo: where a file's hash is remembered under its device, inode, size and times, so that a warm start reads no
  ///     weights; nil hashes the contents every time. The key is the same either way. A file changed less than two
  ///     seconds ago is always hashed, for its times may not tell it from what it becomes next.
  ///   - now: the time of day.
  /// - Throws: `FileError` for a file that cannot be read.
  package init(contentsOf files: [String], memo: CacheDirectory?, now: time_t = time(nil)) throws(FileError) {
    var parts: [String] = []
    for file in files {
      let identity = try FileIdentity(file)
      let name = "sources/\(identity.key)"
      let memo = identity.isSettled(now) ? memo : nil
      if let known = memo?.readSealed(name), known.count == 2 * Digest.byteCount {
        parts.append(known.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        continue
      }
      let contents = try Bytes(mapping: file)
      let hash = ContentKey(piecesOf: contents).description
      try contents.checkUnchanged()
      if let memo, try FileIdentity(file).key == identity.key {
        Array(hash.utf8).withUnsafeBytes { memo.writeSealed(name, $0) }
      }
      parts.append(hash)
    }
    self.init(parts)
  }

  /// Of the keys of pieces, which all processors work out together.
  private init(piecesOf bytes: Bytes) {
    let size = 1 << 22
    let count = (bytes.count + size - 1) / size
    let keys = Mutex([String](repeating: "", count: count))
    DispatchQueue.concurrentPerform(iterations: count) { index in
      guard let piece = bytes.slice(offset: index * size, count: min(size, bytes.count - index * size)) else { return }
      let key = ContentKey(piece).description
      keys.withLock { $0[index] = key }
    }
    self.init(keys.withLock { $0 })
  }
}

/// What tells one state of a file from another without reading it.
private struct FileIdentity {
  private static let settlingTime = 2
  private let status: stat

  init(_ file: String) throws(FileError) {
    var status = stat()
    guard stat(file.pathBytes, &status) == 0 else { throw FileError(path: file, action: "examine", code: errno) }
    self.status = status
  }

  var key: ContentKey {
    func text(_ time: timespec) -> String { "\(time.tv_sec).\(time.tv_nsec)" }
    return ContentKey([
      "\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", text(status.st_mtim), text(status.st_ctim),
    ])
  }

  func isSettled(_ now: time_t) -> Bool {
    max(status.st_mtim.tv_sec, status.st_ctim.tv_sec) + Self.settlingTime <= now
  }
}
