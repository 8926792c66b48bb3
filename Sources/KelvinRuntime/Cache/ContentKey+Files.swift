import Dispatch
package import Glibc
package import KelvinBasics
import KelvinDevices
package import KelvinGraph
import Synchronization

extension ContentKey {
  /// Seconds for which a file is left alone before its hash is remembered: steps of the coarsest clocks of file systems.
  private static let settlingTime = 2.0

  /// The key of a model's contents, whatever its files are called. From then on these files are known by their contents
  /// (`Bytes.recognize(by:)`).
  ///
  /// - Parameters:
  ///   - files: all of each.
  ///   - memo: where a file's hash is remembered under its state, so that a warm start reads no weights; nil hashes the
  ///     contents every time. The key is the same either way. A file changed less than two seconds ago is always
  ///     hashed, for its times may not tell it from what it becomes next.
  ///   - now: the time of day.
  /// - Throws: `FileError` for a file that changed since it was opened.
  package init(
    contentsOf files: [Bytes], memo: CacheDirectory?, now: time_t = time(nil)
  ) throws(FileError) {
    var parts: [String] = []
    for file in files { parts.append(try Self.hash(file, memo, now)) }
    self.init(parts)
  }

  private static func hash(_ file: Bytes, _ memo: CacheDirectory?, _ now: time_t) throws(FileError) -> String {
    let touches = try file.touches()
    guard let state = file.state else { return ContentKey(piecesOf: file).description }
    let name = "sources/\(ContentKey(state.facts))"
    let memo = state.isSettled(for: settlingTime, at: Double(now)) ? memo : nil
    let known = memo?.readSealed(name)?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let isKnown = known?.utf8.count == 2 * Digest.byteCount
    let hash = isKnown ? known ?? "" : ContentKey(piecesOf: file).description
    guard try file.touches() == touches else { return try Self.hash(file, memo, now) }
    file.recognize { ContentKey(piecesOf: $0).description == hash }
    if let memo, !isKnown { Array(hash.utf8).withUnsafeBytes { memo.writeSealed(name, $0) } }
    return hash
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
