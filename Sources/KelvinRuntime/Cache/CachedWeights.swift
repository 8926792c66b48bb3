package import KelvinDevices
package import KelvinGraph
import Synchronization

/// Packed weights that a file keeps between processes.
package final class CachedWeights: PackedWeights {
  private struct State {
    var file: PackFile?
    /// Packed here, and not yet in the file.
    var made: [String: Bytes] = [:]
    var packedCount = 0
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
    let known = state.withLock { $0.made[key] ?? $0.file?[key] }
    if let known, known.count == byteCount { return known }
    let bytes = try Bytes(count: byteCount, fill: fill)
    return state.withLock { state in
      if let first = state.made[key], first.count == byteCount { return first }
      state.made[key] = bytes
      state.packedCount += 1
      return bytes
    }
  }

  /// How many weights were packed in this process rather than found in the cache.
  package var packedCount: Int { state.withLock { $0.packedCount } }

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
