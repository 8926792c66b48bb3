import Synchronization

/// The files that a model was read from and whose bytes it goes on reading, packs of the cache among them, as they were when they were opened.
///
/// A file that is mapped shows whatever anybody writes to it, zeros where it was cut short. Nothing computed from it
/// counts until `checkUnchanged` has returned: results are asked for after they were computed and before they are given
/// away or kept.
package final class SourceFiles: Sendable {
  private struct Held {
    var files: [Bytes] = []
    var packs: [Bytes] = []
  }

  private let held = Mutex(Held())

  package init() {}

  /// Adds a file; memory of our own is none.
  package func hold(_ bytes: Bytes) { held.withLock { $0.files.append(bytes) } }

  /// Adds a file that was made of these and is read in their stead, once. Another may take its place.
  package func hold(pack bytes: Bytes) {
    held.withLock { held in
      if !held.packs.contains(where: { $0.baseAddress == bytes.baseAddress }) { held.packs.append(bytes) }
    }
  }

  /// The files' paths as they were opened, packs left out; sorted, each once.
  package var paths: [String] { Set(held.withLock(\.files).compactMap { $0.file?.path }).sorted() }

  /// Whether all that was read so far is what the files held when they were opened. Takes less than a microsecond for
  /// each file that is mapped.
  ///
  /// - Throws: `FileError` for one that was cut short, written to, or could not be read.
  package func checkUnchanged() throws(FileError) {
    let held = held.withLock(\.self)
    for bytes in held.files { try bytes.checkUnchanged() }
    for bytes in held.packs { try bytes.checkUnchanged() }
  }

  /// As `checkUnchanged`, and whether the paths still name the files: what is learned by path is then of them.
  ///
  /// - Throws: `FileError`.
  package func checkInPlace() throws(FileError) {
    try checkUnchanged()
    for bytes in held.withLock(\.files) { try bytes.file?.checkInPlace() }
  }
}

extension SourceFiles: Hashable {
  package static func == (a: SourceFiles, b: SourceFiles) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
