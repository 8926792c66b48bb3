import Dispatch
package import Glibc
package import KelvinBasics
import KelvinDevices
package import KelvinGraph
import Synchronization

extension ContentKey {
  /// The age in seconds that a file must have before its hash is stored: the coarsest time resolution of file
  /// systems.
  private static let settlingTime = 2.0

  /// Creates the key of a model's contents, independent of file names. From then on these files are recognized by
  /// their contents (`Bytes.recognize(by:)`).
  ///
  /// - Parameters:
  ///   - files: the complete contents of each file.
  ///   - memo: the cache that stores a file's hash under its state, so that a warm start does not read the weights;
  ///     nil hashes the contents every time. The key is the same either way. A file changed less than two seconds ago
  ///     is always hashed, because its times may not distinguish it from a later version.
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

  /// Creates the key of the keys of 4 MiB chunks, which are hashed in parallel.
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
