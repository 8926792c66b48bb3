package import KelvinDevices
package import KelvinGraph
import Synchronization

/// Packed weights that a file keeps between processes.
///
/// Packed forms of compressed weights are larger than the weights themselves. They are made anew in every process, and
/// live as long as somebody uses them; the file does not hold them.
package final class CachedWeights: PackedWeights {
  private struct State {
    var file: PackFile?
    /// Regions of the file by how they were found when they were first read.
    var isIntact: [String: Bool] = [:]
    /// Packed here, and not yet in the file.
    var made: [String: Bytes] = [:]
    /// The file with them, which is being written.
    var draft: PackDraft?
    /// Packed here from compressed weights.
    var expanded: [String: Bytes.Unowned] = [:]
    var packedCount = 0
    /// The size of every packed form that was asked for.
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
    let isCompressed = WeightName.isCompressed(key)
    return state.withLock { state in
      if isCompressed {
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

  /// The region of the file, checked against its hash when it is first asked for; nil where there is none or it is not
  /// what was written.
  private func stored(_ key: String) -> Bytes? {
    let (file, found) = state.withLock { ($0.file, $0.isIntact[key]) }
    guard let file, let region = file.regions[key] else { return nil }
    let isIntact = found ?? region.isIntact(seed: file.seed)
    if found == nil {
      state.withLock { if $0.file?.regions[key]?.hash == region.hash { $0.isIntact[key] = isIntact } }
      if !isIntact { directory.noteDamage(name, "holds packed weights that were damaged; they are packed anew") }
    }
    return isIntact ? region.bytes : nil
  }

  package var footprint: PackedFootprint {
    state.withLock { state in
      var footprint = PackedFootprint()
      for (key, size) in state.sizes {
        footprint.byteCount += size
        if WeightName.isCompressed(key) { footprint.expandedByteCount += size }
      }
      return footprint
    }
  }

  /// The file that weights are read from as they are needed; nil where there is none.
  var mapped: Bytes? { state.withLock { $0.file?.contents } }

  /// How many weights were packed in this process rather than found in the cache.
  package var packedCount: Int { state.withLock { $0.packedCount } }

  /// Begins to write the file beside its place, while what else a model's loading takes goes on.
  package func didPackAll() {
    state.withLock { state in
      if state.draft == nil, !state.made.isEmpty { state.draft = PackDraft(name, of: state.made, directory) }
    }
  }

  /// Lets go of what was packed here and is in no file: it cannot be trusted.
  func forget() {
    state.withLock { state in
      state.draft = nil
      state.made = [:]
      state.expanded = [:]
    }
  }

  /// Writes the file anew where this process packed something that it lacks, keeping what others put there meanwhile.
  /// From then on the weights are read from the file, whose pages the system may drop.
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
