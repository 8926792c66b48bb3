import KelvinDevices

/// The memory that sessions of a model's compiled forms run in, one run at a time: forms for other sizes need not bring
/// their own.
///
/// Contents are left over from run to run. A form that needs more makes it grow by whole powers of two; sessions that
/// were bound before stay on what they were bound to.
package final class SessionMemory: @unchecked Sendable {
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

  package init() {}

  /// At least so many bytes on a device.
  ///
  /// - Throws: `.outOfMemory`.
  func buffer(_ use: Use, byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    let key = Key(device: device.info.id, use: use)
    guard let known = buffers[key] else {
      let made = try device.makeBuffer(byteCount: byteCount)
      buffers[key] = made
      return made
    }
    if known.byteCount >= byteCount { return known }
    // What is not bound any more goes before more is asked for.
    buffers[key] = nil
    let made: any Buffer
    do { made = try device.makeBuffer(byteCount: byteCount.bucket) } catch {
      made = try device.makeBuffer(byteCount: byteCount)
    }
    buffers[key] = made
    return made
  }
}
