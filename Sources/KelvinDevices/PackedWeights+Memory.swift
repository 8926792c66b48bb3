package import KelvinGraph
import Synchronization

/// Packed weights kept in this process's memory only.
package final class MemoryPackedWeights: PackedWeights {
  private let entries = Mutex<[String: Bytes]>([:])

  package init() {}

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    if let bytes = entries.withLock({ $0[key] }), bytes.count == byteCount { return bytes }
    let bytes = try Bytes(count: byteCount, fill: fill)
    entries.withLock { $0[key] = bytes }
    return bytes
  }

  package var footprint: PackedFootprint {
    PackedFootprint(byteCount: entries.withLock { $0.values.reduce(0) { $0 + $1.count } })
  }
}

/// A cache that keeps nothing.
package final class NoBlobCache: BlobCache {
  package init() {}
  package func blob(_ key: String) -> Bytes? { nil }
  package func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {}
}
