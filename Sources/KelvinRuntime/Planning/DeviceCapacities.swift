import KelvinDevices
import Synchronization

/// The memory that a model's plans may use on each device: what was free when the first of them was made.
///
/// Later plans, such as those for other sizes, use the same numbers. They may place the weights that the model already
/// has on a device there again, so these do not count as taken.
package final class DeviceCapacities: Sendable {
  private let known = Mutex<[String: Int?]>([:])

  package init() {}

  /// Returns the bytes of a device's memory for weights and values, without room for what the device allocates besides:
  /// the rest of a buffer that weights share, copies of values in other layouts, the buffer of a kernel's first run.
  package static func usable(_ free: Int) -> Int { max(0, free - free / 32 - 256 << 10) }

  /// Returns bytes by device id. Devices whose memory is unknown are missing.
  ///
  /// - Parameter bounds: upper bounds by device id.
  func bytes(of devices: [any Device], within bounds: [String: Int] = [:]) -> [String: Int] {
    let free: [String: Int] = devices.reduce(into: [:]) { bytes, device in
      let id = device.info.id
      if let first = known.withLock({ $0[id] }) {
        bytes[id] = first
        return
      }
      let free = device.freeMemory.map(Self.usable)
      bytes[id] = known.withLock { known in
        let first = known[id] ?? free
        known[id] = .some(first)
        return first
      }
    }
    return free.merging(bounds.filter { id, _ in devices.contains { $0.info.id == id } }) { min($0, $1) }
  }
}
