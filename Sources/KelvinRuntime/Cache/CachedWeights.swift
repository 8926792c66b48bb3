package import KelvinDevices
package import KelvinGraph
import Synchronization

/// Packed weights that a file keeps between processes.
///
/// The expanded layouts of compressed weights are larger than the weights themselves. They are not stored in the file
/// but packed again in every process, and live as long as they are used. Layouts of codes are stored.
package final class CachedWeights: PackedWeights {
  private struct State {
    var file: PackFile?
    /// Whether each region of the file was intact when it was first read.
    var isIntact: [String: Bool] = [:]
    /// Weights packed by this process that are not in the file yet.
    var made: [String: Bytes] = [:]
    /// The file with `made`, while it is being written.
    var draft: PackDraft?
    /// Weights packed by this process from compressed weights.
    var expanded: [String: Bytes.Unowned] = [:]
    var packedCount = 0
    /// The byte count of every packed weight that was requested.
    var sizes: [String: Int] = [:]
  }

  private let directory: CacheDirectory
  private let name: String
  private let state: Mutex<State>

  init(_ directory: CacheDirectory, _ name: String) {
    self.directory = directory
    self.name = name
    state = Mutex(State(file: PackFile.read(name, from: directory)))
  }

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let known = state.withLock { state in
      state.sizes[key] = byteCount
      return state.made[key] ?? state.expanded[key]?.bytes
    }
    if let known = known ?? stored(key), known.count == byteCount { return known }
    let bytes = try PoisonedMemory.bytes(count: byteCount, fill: fill)
    let isExpanded = WeightName.isExpanded(key)
    return state.withLock { state in
      if isExpanded {
        if let first = state.expanded[key]?.bytes, first.count == byteCount { return first }
        state.expanded[key] = Bytes.Unowned(bytes)
        state.packedCount += 1
        return bytes
      }
      if let first = state.made[key], first.count == byteCount { return first }
      state.made[key] = bytes
      state.packedCount += 1
      return bytes
    }
  }

  /// Returns a region of the file, checked against its hash at its first use; nil if it is missing or damaged.
  private func stored(_ key: String) -> Bytes? {
    let (file, found) = state.withLock { ($0.file, $0.isIntact[key]) }
    guard let file, let region = file.regions[key] else { return nil }
    let isIntact = found ?? region.isIntact(seed: file.seed)
    if found == nil {
      state.withLock { if $0.file?.regions[key]?.hash == region.hash { $0.isIntact[key] = isIntact } }
      if !isIntact { directory.noteDamage(name, "holds damaged packed weights; they are packed again") }
    }
    return isIntact ? region.bytes : nil
  }

  package var footprint: PackedFootprint {
    state.withLock { state in
      var footprint = PackedFootprint()
      for (key, size) in state.sizes {
        footprint.byteCount += size
        if WeightName.isExpanded(key) { footprint.expandedByteCount += size }
      }
      return footprint
    }
  }

  /// The mapped file that weights are read from; nil if there is none.
  var mapped: Bytes? { state.withLock { $0.file?.contents } }

  /// The number of weights that this process packed instead of reading them from the cache.
  package var packedCount: Int { state.withLock { $0.packedCount } }

  /// Starts to write the file under a temporary name while loading continues.
  package func didPackAll() {
    state.withLock { state in
      if state.draft == nil, !state.made.isEmpty { state.draft = PackDraft(name, of: state.made, directory) }
    }
  }

  /// Drops weights that were packed by this process and not stored, because their source cannot be trusted.
  func forget() {
    state.withLock { state in
      state.draft = nil
      state.made = [:]
      state.expanded = [:]
    }
  }

  /// Writes the file again if this process packed weights that are missing in it, and keeps entries that other
  /// processes added meanwhile. Afterwards the weights are read from the file, whose pages the system may drop.
  package func save() {
    let (new, draft) = state.withLock { state in
      defer { state.draft = nil }
      return (state.made, state.draft)
    }
    guard !new.isEmpty else { return }
    let written = draft?.written()
    let file: PackFile?? = directory.locking(name) {
      guard let pack = PackContents(new, name, directory, known: written?.contents) else { return nil }
      let isInPlace = written?.put(as: pack) ?? false
      guard isInPlace || pack.withParts({ directory.write(name, $0, in: pack.folder) }) else { return nil }
      return PackFile.read(name, from: directory, pack.folder)
    }
    guard case .some(.some(let file)) = file else { return }
    state.withLock { state in
      state.file = file
      state.isIntact = [:]
      for (key, bytes) in new where state.made[key]?.baseAddress == bytes.baseAddress { state.made[key] = nil }
    }
  }
}
