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
    /// Packed here, and not yet in the file.
    var made: [String: Bytes] = [:]
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
    state = Mutex(State(file: directory.read(name).flatMap { PackFile($0) }))
  }

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let known = state.withLock { state in
      state.sizes[key] = byteCount
      return state.made[key] ?? state.file?[key] ?? state.expanded[key]?.bytes
    }
    if let known, known.count == byteCount { return known }
    let bytes = try Bytes(count: byteCount, fill: fill)
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

  /// How many weights were packed in this process rather than found in the cache.
  package var packedCount: Int { state.withLock { $0.packedCount } }

  /// Lets go of what was packed here and is in no file: it cannot be trusted.
  func forget() {
    state.withLock { state in
      state.made = [:]
      state.expanded = [:]
    }
  }

  /// Writes the file anew where this process packed something that it lacks, keeping what others put there meanwhile.
  /// From then on the weights are read from the file, whose pages the system may drop.
  package func save() {
    let new = state.withLock { $0.made }
    guard !new.isEmpty else { return }
    let file: PackFile? = directory.locking(name) {
      let stored = directory.read(name).flatMap { PackFile($0) }?.entries ?? [:]
      guard PackFile.write(stored.merging(new) { _, new in new }, to: directory, name) else { return nil }
      return directory.read(name).flatMap { PackFile($0) }
    }
    guard let file else { return }
    state.withLock { state in
      state.file = file
      for (key, bytes) in new where state.made[key]?.baseAddress == bytes.baseAddress { state.made[key] = nil }
    }
  }
}
