package import KelvinGraph
import Synchronization

/// Packed weights in this process's memory, kept only while an executable uses them.
package final class MemoryPackedWeights: PackedWeights {
  private let entries = Mutex<[String: Bytes.Unowned]>([:])

  package init() {}

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    if let bytes = entries.withLock({ $0[key]?.bytes }), bytes.count == byteCount { return bytes }
    let bytes = try PoisonedMemory.bytes(count: byteCount, fill: fill)
    return entries.withLock { entries in
      if let first = entries[key]?.bytes, first.count == byteCount { return first }
      entries[key] = Bytes.Unowned(bytes)
      return bytes
    }
  }

  package var footprint: PackedFootprint {
    PackedFootprint(byteCount: entries.withLock { $0.values.reduce(0) { $0 + ($1.bytes?.count ?? 0) } })
  }
}

/// A cache that stores nothing.
package final class NoBlobCache: BlobCache {
  package init() {}
  package func blob(_ key: String) -> Bytes? { nil }
  package func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {}
}
