import KelvinDevices
import KelvinGraph
import Synchronization

/// Counts how often weights are packed, and keeps them, used or not.
final class CountingWeights: PackedWeights {
  private let memory = MemoryPackedWeights()
  private let kept = Mutex<[Bytes]>([])
  private let count = Mutex(0)
  var fills: Int { count.withLock { $0 } }
  /// Of all that was packed.
  var byteCount: Int { kept.withLock { $0.reduce(0) { $0 + $1.count } } }

  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let bytes = try memory.packed(key, byteCount: byteCount) { (target) throws(DeviceError) in
      count.withLock { $0 += 1 }
      try fill(target)
    }
    kept.withLock { $0.append(bytes) }
    return bytes
  }
}

/// Keeps blobs in memory, counts what is stored, and hands them out damaged on demand.
final class TestBlobs: BlobCache {
  private let blobs = Mutex<[String: [UInt8]]>([:])
  private let count = Mutex(0)
  var stores: Int { count.withLock { $0 } }
  var keys: [String] { blobs.withLock { Array($0.keys) } }

  func blob(_ key: String) -> Bytes? { blobs.withLock { $0[key].map { Bytes($0) } } }

  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    count.withLock { $0 += 1 }
    blobs.withLock { $0[key] = Array(bytes) }
  }

  func change(_ change: (inout [UInt8]) -> Void) {
    blobs.withLock { blobs in
      for key in blobs.keys {
        blobs[key].map { bytes in
          var copy = bytes
          change(&copy)
          blobs[key] = copy
        }
      }
    }
  }
}
