import Dispatch
import KelvinBasics
import KelvinGraph
import Synchronization

/// The regions of a pack file, for one folder and its secret.
struct PackContents {
  let name: String
  let folder: CacheFolder
  let secret: CacheSecret
  let regions: [String: PackRegion]

  /// Merges `new` regions into the regions of the folder's file of that name.
  ///
  /// - Parameter known: contents that may already have some of the new regions, with their hashes.
  /// - Returns: nil if the folder cannot be used.
  init?(_ new: [String: Bytes], _ name: String, _ directory: CacheDirectory, known: PackContents? = nil) {
    // Use one folder and one secret throughout: another process may replace either at any time.
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

  /// Calls `body` with the parts of the file.
  func withParts<Result>(_ body: ([UnsafeRawBufferPointer]) -> Result) -> Result {
    PackFile.withParts(of: regions, name, secret, body)
  }
}

/// A pack file that a thread of its own writes under a temporary name. It becomes visible when it is renamed;
/// releasing the object removes the file.
final class PackDraft: Sendable {
  private let file = Mutex<WrittenPack?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  /// Starts writing; nil if the system cannot start a thread.
  init?(_ name: String, of new: [String: Bytes], _ directory: CacheDirectory) {
    let thread = WorkerThread { [self] in
      let written = PackContents(new, name, directory).flatMap { WrittenPack($0) }
      file.withLock { $0 = written }
      ended.signal()
    }
    if thread == nil { return nil }
  }

  /// Waits for the end of writing. Call it once.
  ///
  /// - Returns: nil if writing failed.
  func written() -> WrittenPack? {
    ended.wait()
    return file.withLock { file in
      defer { file = nil }
      return file
    }
  }
}

/// A complete pack file under a temporary name, removed unless `put` renames it.
final class WrittenPack: @unchecked Sendable {
  let contents: PackContents
  /// The temporary file; nil after `put`.
  private var draft: CacheFolder.Draft?

  fileprivate init?(_ contents: PackContents) {
    self.contents = contents
    draft = contents.withParts { try? contents.folder.draft(contents.name, $0) }
    if draft == nil { return nil }
  }

  deinit { if let draft { contents.folder.discard(draft) } }

  /// Renames the file.
  ///
  /// - Returns: whether it was renamed; false if its contents differ from `wanted`.
  func put(as wanted: PackContents) -> Bool {
    guard let draft, wanted.isSame(as: contents) else { return false }
    self.draft = nil
    return (try? contents.folder.put(draft)) != nil
  }
}
