package import KelvinBasics
import Synchronization

/// The files that a model was read from and whose bytes it goes on reading, packs of the cache among them, as they were
/// when they were opened.
///
/// A file that is mapped shows whatever anybody writes to it, zeros where it was cut short. Whatever reads these files
/// goes through `vouching`, and what it leaves is given away or kept only when that has returned.
package final class SourceFiles: Sendable {
  private struct Held {
    var files: [Bytes] = []
    /// As long as anybody else keeps them: compiled forms come and go, and each may leave a longer pack than the last.
    var packs: [(bytes: Bytes.Unowned, touches: Int)] = []
    /// By whoever is vouching now: the packs that it may have read, kept until it knows.
    var relied: [Int: [Pack]] = [:]
    var vouchings = 0
    /// Of files that were looked at by path, and not held.
    var seen: [String: FileState] = [:]
    /// A path that came to name another file.
    var exchanged: String?
  }

  /// A pack, and how often it had been touched when it was held: nothing of it had been read for this model before.
  private struct Pack {
    let bytes: Bytes
    let touches: Int
  }

  private let held = Mutex(Held())

  package init() {}

  /// Adds a file; memory of our own is none.
  package func hold(_ bytes: Bytes) {
    held.withLock { held in
      held.files.append(bytes)
      if let path = bytes.path, let seen = held.seen[path], seen != bytes.state { held.exchanged = path }
    }
  }

  /// Adds a file that was made of these and is read in their stead, once, for as long as whoever reads it keeps it.
  /// Another may take its place.
  package func hold(pack bytes: Bytes) {
    // One that cannot be vouched for any more is found out by whoever vouches.
    let touches = (try? bytes.touches(ofContents: true)) ?? 0
    held.withLock { held in
      held.packs.removeAll { $0.bytes.bytes == nil }
      guard !held.packs.contains(where: { $0.bytes.bytes?.baseAddress == bytes.baseAddress }) else { return }
      held.packs.append((Bytes.Unowned(bytes), touches))
      for vouching in held.relied.keys { held.relied[vouching]?.append(Pack(bytes: bytes, touches: touches)) }
    }
  }

  /// The files as they were opened, packs left out, each path once: first those of these paths, then the others by
  /// theirs. A path that nobody has opened is, and has to name the same file in the same state if it is held later.
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

  /// Does something that reads the files. Where one of them was touched meanwhile, so that nobody knows what was read,
  /// but holds what it held when it was opened, it is done again.
  ///
  /// - Parameters:
  ///   - repeats: false where it can be done but once: a touch is then an error.
  ///   - refusing: the error for a file that was cut short, written to, or could not be read; whatever else went wrong
  ///     went wrong because of that.
  ///   - discarding: called after each attempt that does not count.
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
        reason: "it, or a file that belongs to it, was written to while it was used; try again when nobody does"))
  }

  /// As the other form, where errors are of any kind.
  package func vouching<Result>(
    repeats: Bool = true, discarding: () -> Void = {}, _ body: () throws -> Result
  ) throws -> Result {
    try vouching(repeats: repeats, refusing: { $0 as any Error }, discarding: discarding, body)
  }

  private static let mostAttempts = 4

  /// Keeps the packs that are in use, and those that are held from now on, until `end`.
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
    // The last to keep a pack unmaps it: after the lock is released.
    let dropped = held.withLock { $0.relied.removeValue(forKey: vouching) }
    withExtendedLifetime(dropped) {}
  }

  /// How often any of the files was touched without becoming another.
  private func touches(during vouching: Int) throws(FileError) -> Int {
    let held = held.withLock(\.self)
    if let path = held.exchanged {
      throw FileError(path: path, action: "use", reason: "another file took its place while it was read; try again")
    }
    var count = 0
    for bytes in held.files { count += try bytes.touches() }
    // Whoever packs more puts another file in a pack's place, and leaves what it holds alone.
    for pack in held.relied[vouching] ?? [] { count += try pack.bytes.touches(ofContents: true) - pack.touches }
    return count
  }
}

extension SourceFiles: Hashable {
  package static func == (a: SourceFiles, b: SourceFiles) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
