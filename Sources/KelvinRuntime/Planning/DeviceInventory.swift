package import KelvinDevices

/// The devices of this machine.
package struct DeviceInventory: Sendable {
  package let listings: [DeviceListing]

  package init(_ listings: [DeviceListing]) { self.listings = listings }

  package var devices: [any Device] { listings.compactMap(\.device) }

  /// - Throws: `unknownDevice` or `deviceAbsent`.
  package func device(_ id: String) throws(RuntimeError) -> any Device {
    if let device = devices.first(where: { $0.info.id == id }) { return device }
    let family = id.prefix { $0 != ":" }
    if let missing = listings.first(where: { $0.device == nil && $0.info.id.hasPrefix(family) }) {
      throw .deviceAbsent(id, reason: missing.reason)
    }
    throw .unknownDevice(id, available: devices.map(\.info.id))
  }

  /// The device whose memory is the host's.
  package var host: any Device {
    guard
      let host = devices.first(where: { $0.info.kind == .cpu }) ?? devices.first(where: { $0.info.kind == .reference })
    else { preconditionFailure("an inventory has a CPU or the reference device") }
    return host
  }

  package var reference: (any Device)? { devices.first { $0.info.kind == .reference } }

  /// Devices that `accepts` takes.
  func hardware(_ accepts: (DeviceInfo) -> Bool) -> [any Device] {
    devices.filter { accepts($0.info) }
  }
}
