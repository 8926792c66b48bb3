package import KelvinDevices

/// The devices of this machine. Requesting devices opens only the drivers that they need.
package struct DeviceInventory: Sendable {
  private let families: [DeviceFamily]

  package init(_ families: [DeviceFamily]) { self.families = families }

  /// Creates an inventory of devices that are already known.
  package init(_ listings: [DeviceListing]) { self.init(listings.map { DeviceFamily($0) }) }

  /// All devices, present or absent; opens every driver.
  package var listings: [DeviceListing] { families.flatMap(\.listings) }

  /// Every device; opens every driver.
  package var devices: [any Device] { families.flatMap(\.devices) }

  /// The devices of drivers that have been opened.
  package var openDevices: [any Device] { families.filter(\.isOpen).flatMap(\.devices) }

  /// - Throws: `unknownDevice` or `deviceAbsent`.
  package func device(_ id: String) throws(RuntimeError) -> any Device {
    let candidates = families.filter { $0.name == DeviceFamily.name(of: id) }.flatMap(\.listings)
    if let device = candidates.first(where: { $0.device != nil && $0.info.id == id })?.device { return device }
    if let missing = candidates.first(where: { $0.device == nil }) { throw .deviceAbsent(id, reason: missing.reason) }
    throw .unknownDevice(id, available: devices.map(\.info.id))
  }

  /// Opens a failed device anew (`DeviceFamily.renew`).
  ///
  /// - Returns: whether it can be used again.
  package func renew(_ id: String) -> Bool {
    families.first { $0.name == DeviceFamily.name(of: id) && $0.isOpen }?.renew(id) ?? false
  }

  /// Returns the named devices that are present, in the machine's order.
  package func devices(named ids: some Sequence<String>) -> [any Device] {
    let ids = Set(ids)
    let names = Set(ids.map(DeviceFamily.name(of:)))
    return families.filter { names.contains($0.name) }.flatMap(\.devices).filter { ids.contains($0.info.id) }
  }

  /// The device whose memory is host memory.
  package var host: any Device {
    guard let host = hardware([.cpu]).first ?? reference else {
      preconditionFailure("an inventory has a CPU or the reference device")
    }
    return host
  }

  package var reference: (any Device)? { hardware([.reference]).first }

  /// Returns the devices of these kinds.
  package func hardware(_ kinds: Set<DeviceInfo.Kind>) -> [any Device] {
    families.filter { !$0.kinds.isDisjoint(with: kinds) }.flatMap(\.devices).filter { kinds.contains($0.info.kind) }
  }
}
