import Glibc
import KelvinDevices

/// The memory that sessions of a graph's compiled forms run in, one run at a time: a form for another size need not bring
/// its own.
///
/// Contents are left over from run to run. What is asked for first is taken as it is; a form that needs more makes the
/// memory grow, and sessions that were bound before stay on what they were bound to.
package final class SessionArena: @unchecked Sendable {
  enum Use: Hashable {
    /// Values between segments.
    case values
    /// What a segment needs inside.
    case scratch
  }

  private struct Key: Hashable {
    let device: String
    let use: Use
  }

  /// Touched only by whoever may run.
  private var buffers: [Key: any Buffer] = [:]
  /// How often more was asked for than was there: who was bound before is bound to other memory
  /// (`Session.isOutgrown`).
  package private(set) var generation = 0

  package init() {}

  package var byteCount: Int { buffers.values.reduce(0) { $0 + $1.byteCount } }

  /// Bytes by device.
  var byteCounts: [String: Int] {
    Dictionary(buffers.map { ($0.key.device, $0.value.byteCount) }, uniquingKeysWith: +)
  }

  /// At least so many bytes on a device.
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

  /// Has the system give all pages at once, which takes less than kernels take that meet one after the other. What does
  /// not begin a page, and all on a system that does not know how, is written to.
  private static func touch(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    if madvise(memory, byteCount, adviceToPopulate) != 0 { memset(memory, 0, byteCount) }
  }

  /// MADV_POPULATE_WRITE, since Linux 5.14.
  private static let adviceToPopulate: Int32 = 23

  /// More than is needed, so that sizes that rise step by step do not ask each time: on the host, where memory that
  /// nobody touches costs nothing, up to a power of two; elsewhere an eighth more than before.
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
