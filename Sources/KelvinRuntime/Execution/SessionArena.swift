import Glibc
import KelvinDevices

/// The memory that sessions of a graph's specializations share, one run at a time, so that a specialization for
/// another size needs no memory of its own.
///
/// Contents are not cleared between runs. The first request determines a buffer's size exactly. A larger request
/// later replaces the buffer, and sessions bound before keep the old one.
package final class SessionArena: @unchecked Sendable {
  enum Use: Hashable {
    /// Values between segments.
    case values
    /// Memory used within a segment.
    case scratch
  }

  private struct Key: Hashable {
    let device: String
    let use: Use
  }

  /// Accessed only by the thread that may run a session.
  private var buffers: [Key: any Buffer] = [:]
  /// The number of times a buffer was replaced by a larger one; sessions bound before then are outgrown
  /// (`Session.isOutgrown`).
  package private(set) var generation = 0

  package init() {}

  package var byteCount: Int { buffers.values.reduce(0) { $0 + $1.byteCount } }

  /// The bytes by device.
  var byteCounts: [String: Int] {
    Dictionary(buffers.map { ($0.key.device, $0.value.byteCount) }, uniquingKeysWith: +)
  }

  /// Returns a buffer of at least `byteCount` bytes on a device.
  ///
  /// - Throws: `.outOfMemory`.
  func buffer(_ use: Use, byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    let key = Key(device: device.info.id, use: use)
    let made: any Buffer
    if let known = buffers[key] {
      guard known.byteCount < byteCount else { return known }
      buffers[key] = nil
      generation += 1
      made = try Self.grown(use, from: known.byteCount, to: byteCount, on: device)
    } else {
      made = try Self.make(use, byteCount, on: device)
    }
    if device.info.isHost, let memory = made.hostPointer { Self.touch(memory, byteCount) }
    try PoisonedMemory.prepare(made)
    buffers[key] = made
    return made
  }

  /// Makes the system provide all pages at once, which is faster than page faults inside kernels. If the system does
  /// not support that, for example for unaligned memory, the memory is written to instead.
  private static func touch(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    if madvise(memory, byteCount, adviceToPopulate) != 0 { memset(memory, 0, byteCount) }
  }

  /// MADV_POPULATE_WRITE, since Linux 5.14.
  private static let adviceToPopulate: Int32 = 23

  /// Returns a buffer with some reserve, so that sizes that increase in steps do not reallocate each time. On the
  /// host, where untouched memory costs nothing, the size is a power of two; elsewhere at least an eighth more than
  /// before.
  private static func grown(
    _ use: Use, from old: Int, to byteCount: Int, on device: any Device
  ) throws(DeviceError) -> any Buffer {
    let ample = device.info.isHost ? byteCount.bucket : max(byteCount, old + old / 8)
    guard ample > byteCount else { return try make(use, byteCount, on: device) }
    do { return try make(use, ample, on: device) } catch {
      guard error.code == .outOfMemory else { throw error }
      return try make(use, byteCount, on: device)
    }
  }

  private static func make(_ use: Use, _ byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    try use == .scratch ? device.makeScratch(byteCount: byteCount) : device.makeBuffer(byteCount: byteCount)
  }
}
