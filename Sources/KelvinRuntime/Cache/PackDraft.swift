import Dispatch
import KelvinBasics
import KelvinGraph
import Synchronization

/// What a pack is to hold, for one folder and its secret.
struct PackContents {
  let name: String
  let folder: CacheFolder
  let secret: CacheSecret
  let regions: [String: PackRegion]

  /// What the folder's file of a name holds, with `new` regions among it or in its place.
  ///
  /// - Parameter known: contents that may have some of the new regions, with their hashes.
  /// - Returns: nil where the folder cannot be had.
  init?(_ new: [String: Bytes], _ name: String, _ directory: CacheDirectory, known: PackContents? = nil) {
    // One folder and its secret for all of it: another may be there at any time.
    guard let folder = directory.current(creates: true), let secret = directory.secret(of: folder, creates: true) else {
      return nil
    }
    (self.name, self.folder, self.secret) = (name, folder, secret)
    let isKnown = known.map { $0.folder === folder && $0.secret.seed == secret.seed } ?? false
    let stored = PackFile.read(name, from: directory, folder)?.regions ?? [:]
    regions = new.reduce(into: stored) { regions, entry in
      let own = isKnown ? known?.regions[entry.key] : nil
      regions[entry.key] =
        own?.bytes.baseAddress == entry.value.baseAddress ? own : PackRegion(entry.value, seed: secret.seed)
    }
  }

  func isSame(as other: PackContents) -> Bool {
    folder === other.folder && secret.seed == other.secret.seed
      && regions.mapValues(\.hash) == other.regions.mapValues(\.hash)
  }

  /// The file's parts, while `body` runs.
  func withParts<Result>(_ body: ([UnsafeRawBufferPointer]) -> Result) -> Result {
    PackFile.withParts(of: regions, name, secret, body)
  }
}

/// A pack that is written beside its place by a thread of its own, while its weights' user goes on. Nobody finds it before it
/// is put in place; let go of, it is removed.
final class PackDraft: Sendable {
  private let file = Mutex<WrittenPack?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  /// Nil where the system has no thread left.
  init?(_ name: String, of new: [String: Bytes], _ directory: CacheDirectory) {
    let thread = WorkerThread { [self] in
      let written = PackContents(new, name, directory).flatMap { WrittenPack($0) }
      file.withLock { $0 = written }
      ended.signal()
    }
    if thread == nil { return nil }
  }

  /// Waits for the end of the writing.
  ///
  /// - Returns: nil where it failed; once.
  func written() -> WrittenPack? {
    ended.wait()
    return file.withLock { file in
      defer { file = nil }
      return file
    }
  }
}

/// A pack that is whole beside its place, and removed unless it is put there.
final class WrittenPack: @unchecked Sendable {
  let contents: PackContents
  /// Until it is put in place.
  private var draft: CacheFolder.Draft?

  fileprivate init?(_ contents: PackContents) {
    self.contents = contents
    draft = contents.withParts { try? contents.folder.draft(contents.name, $0) }
    if draft == nil { return nil }
  }

  deinit { if let draft { contents.folder.discard(draft) } }

  /// - Returns: whether it is in place now: not where it holds something else than it should.
  func put(as wanted: PackContents) -> Bool {
    guard let draft, wanted.isSame(as: contents) else { return false }
    self.draft = nil
    return (try? contents.folder.put(draft)) != nil
  }
}
