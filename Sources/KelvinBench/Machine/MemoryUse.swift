/// The memory of a process that started and answered once, in bytes.
package struct MemoryUse: Sendable, Hashable, Codable {
  /// The peak resident memory of the process on the host: model, runtime and drivers, for every kind of device.
  package var peakResident: Int
  /// The packed weights and the memory of one session, by device identifier.
  package var devices: [String: Int]

  package init(peakResident: Int, devices: [String: Int]) {
    self.peakResident = peakResident
    self.devices = devices
  }

  /// Returns the element-wise maximum.
  func union(_ other: MemoryUse) -> MemoryUse {
    MemoryUse(
      peakResident: max(peakResident, other.peakResident), devices: devices.merging(other.devices) { max($0, $1) })
  }
}
