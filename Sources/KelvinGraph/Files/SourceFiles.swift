package import KelvinBasics
import Synchronization

/// The files that a model was read from and whose bytes it continues to read, including packed weights in the cache, as
/// they were when they were opened.
///
/// A mapped file shows concurrent writes, and zeros after a truncation. All code that reads these files runs inside
/// `vouching`. Its results may be returned or stored only after `vouching` returns.
package final class SourceFiles: Sendable {
  private struct Held {
    var files: [Bytes] = []
    /// The packs, without keeping them alive. Specializations are evicted, and each may leave a longer pack than the
    /// last.
    var packs: [(bytes: Bytes.Unowned, touches: Int)] = []
    /// By `vouching` call in progress, the packs that it may have read, kept until it ends.
    var relied: [Int: [Pack]] = [:]
    var vouchings = 0
    /// The states of files that were read by path but not held.
    var seen: [String: FileState] = [:]
    /// A path that was found to name another file.
    var exchanged: String?
  }

  /// A pack, and the number of its changes when it was held; the model had not read it before.
  private struct Pack {
    let bytes: Bytes
    let touches: Int
  }

  private let held = Mutex(Held())

  package init() {}

  /// Adds a file; memory that is not part of a file has no effect.
  package func hold(_ bytes: Bytes) {
    held.withLock { held in
      held.files.append(bytes)
      if let path = bytes.path, let seen = held.seen[path], seen != bytes.state { held.exchanged = path }
    }
  }

  /// The states of the held files, without packs.
  package var states: [FileState] { held.withLock { $0.files.compactMap(\.state) } }

  /// Adds a file that was made from these and is read in place of them, once, during the lifetime of its reader.
  /// Another file may replace it.
  package func hold(pack bytes: Bytes) {
    // A file that is invalid already is reported by the next `vouching`.
    let touches = (try? bytes.touches(ofContents: true)) ?? 0
    held.withLock { held in
      held.packs.removeAll { $0.bytes.bytes == nil }
      guard !held.packs.contains(where: { $0.bytes.bytes?.baseAddress == bytes.baseAddress }) else { return }
      held.packs.append((Bytes.Unowned(bytes), touches))
      for vouching in held.relied.keys { held.relied[vouching]?.append(Pack(bytes: bytes, touches: touches)) }
    }
  }

  /// Returns the files as they were opened, without packs, each path once: first the given paths, then the others
  /// sorted. A path that is not open yet is opened; if it is held later, it must name the same file in the same state.
  ///
  /// - Throws: `FileError` for a path that cannot be opened.
  package func contents(first paths: [String]) throws(FileError) -> [Bytes] {
    var files: [String: Bytes] = [:]
    for bytes in held.withLock(\.files) { if let path = bytes.path { files[path] = bytes } }
    var ordered: [Bytes] = []
    for path in paths + files.keys.sorted().filter({ !paths.contains($0) }) {
      if let bytes = files[path] {
        ordered.append(bytes)
      } else {
        let bytes = try Bytes(mapping: path)
        held.withLock { $0.seen[path] = bytes.state }
        ordered.append(bytes)
      }
    }
    return ordered
  }

  /// Runs a closure that reads the files, and repeats it if a file changed meanwhile but still has its original
  /// contents.
  ///
  /// - Parameters:
  ///   - repeats: False if the closure can run only once; a change is then an error.
  ///   - refusing: Creates the error for a file that was truncated, written to, or could not be read. It replaces an
  ///     error of the closure.
  ///   - discarding: Called after each invalid attempt.
  package func vouching<Result, Failure: Error>(
    repeats: Bool = true, refusing: (FileError) -> Failure, discarding: () -> Void = {},
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    for _ in 0..<(repeats ? Self.mostAttempts : 1) {
      let vouching = begin()
      defer { end(vouching) }
      let before: Int
      do throws(FileError) { before = try touches(during: vouching) } catch { throw refusing(error) }
      let outcome: Swift.Result<Result, Failure>
      do throws(Failure) { outcome = .success(try body()) } catch { outcome = .failure(error) }
      let after: Int
      do throws(FileError) { after = try touches(during: vouching) } catch {
        discarding()
        throw refusing(error)
      }
      if after == before { return try outcome.get() }
      discarding()
    }
    throw refusing(
      FileError(
        path: held.withLock { $0.files.first?.path } ?? "", action: "use",
        reason: "it, or a file that belongs to it, was written to while it was used; try again"))
  }

  /// Runs a closure that reads the files like the other overload, with errors of any type.
  package func vouching<Result>(
    repeats: Bool = true, discarding: () -> Void = {}, _ body: () throws -> Result
  ) throws -> Result {
    try vouching(repeats: repeats, refusing: { $0 as any Error }, discarding: discarding, body)
  }

  private static let mostAttempts = 4

  /// Keeps the packs in use, and those that are held from now on, until `end`.
  private func begin() -> Int {
    held.withLock { held in
      held.vouchings += 1
      held.relied[held.vouchings] = held.packs.compactMap { pack in
        pack.bytes.bytes.map { Pack(bytes: $0, touches: pack.touches) }
      }
      return held.vouchings
    }
  }

  private func end(_ vouching: Int) {
    // The last reference to a pack unmaps it, which must happen after the lock is released.
    let dropped = held.withLock { $0.relied.removeValue(forKey: vouching) }
    withExtendedLifetime(dropped) {}
  }

  /// Returns the number of changes of the files' states that kept the contents.
  private func touches(during vouching: Int) throws(FileError) -> Int {
    let (exchanged, files, packs) = held.withLock { ($0.exchanged, $0.files, $0.relied[vouching] ?? []) }
    if let path = exchanged {
      throw FileError(path: path, action: "use", reason: "it was replaced while it was read; try again")
    }
    var count = 0
    for bytes in files { count += try bytes.touches() }
    // A writer of more packed weights replaces the file of a pack, and does not change its contents.
    for pack in packs { count += try pack.bytes.touches(ofContents: true) - pack.touches }
    return count
  }
}

extension SourceFiles: Hashable {
  package static func == (a: SourceFiles, b: SourceFiles) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
