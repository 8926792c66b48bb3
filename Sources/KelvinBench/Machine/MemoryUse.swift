/// The memory of a process that started and answered once. Bytes.
package struct MemoryUse: Sendable, Hashable, Codable {
  /// The most that the process had resident: model, runtime and drivers; on the host, whatever the device.
  package var peakResident: Int
  /// For each device, its packed weights and the memory of one session; by identifier.
  package var devices: [String: Int]

  package init(peakResident: Int, devices: [String: Int]) {
    self.peakResident = peakResident
    self.devices = devices
  }

  /// The larger of both, number by number.
  func union(_ other: MemoryUse) -> MemoryUse {
    MemoryUse(
      peakResident: max(peakResident, other.peakResident), devices: devices.merging(other.devices) { max($0, $1) })
  }
}
