package import KelvinDevices
import Synchronization

/// The devices of one interface: `vulkan:0`, `vulkan:1`, …. They are enumerated once, when one of them is first
/// requested, because enumeration opens the interface's driver. A device that fails is opened anew once.
package final class DeviceFamily: Sendable {
  /// The prefix of the devices' ids, up to the colon.
  let name: String
  /// The kinds that its devices may have.
  let kinds: Set<DeviceInfo.Kind>
  private let find: @Sendable () -> [DeviceListing]
  private let found = Mutex<[DeviceListing]?>(nil)
  private let renews: Bool
  /// The devices that were opened anew. Held while a device is opened, unlike `found`.
  private let renewed = Mutex<Set<String>>([])

  /// - Parameters:
  ///   - renews: whether `find` opens the devices anew at each call.
  ///   - find: lists the devices, or the reason why there are none.
  package init(
    _ name: String, of kinds: Set<DeviceInfo.Kind>, renews: Bool = false,
    find: @escaping @Sendable () -> [DeviceListing]
  ) {
    self.renews = renews
    self.name = name
    self.kinds = kinds
    self.find = find
  }

  convenience init(_ listing: DeviceListing) {
    self.init(Self.name(of: listing.info.id), of: [listing.info.kind]) { [listing] }
  }

  static func name(of id: String) -> String { String(id.prefix { $0 != ":" }) }

  var listings: [DeviceListing] {
    found.withLock { found in
      if let found { return found }
      let listings = find()
      found = listings
      return listings
    }
  }

  /// Opens a failed device anew, once for each device of the process. Devices of a driver with a call that never
  /// returned stay closed, since the call may hold locks of the driver.
  ///
  /// - Returns: whether the device of this id was opened anew and has not failed again.
  func renew(_ id: String) -> Bool {
    guard renews else { return false }
    return renewed.withLock { renewed in
      guard let failed = devices.first(where: { $0.info.id == id }) else { return false }
      guard !failed.health.mayFree else { return renewed.contains(id) }
      guard !DriverThread.hasGivenUpAny, renewed.insert(id).inserted,
        let fresh = find().first(where: { $0.info == failed.info && $0.device != nil })
      else { return false }
      found.withLock { $0 = $0?.map { $0.info.id == id ? fresh : $0 } }
      return true
    }
  }

  var devices: [any Device] { listings.compactMap(\.device) }

  /// Whether its devices have been enumerated.
  var isOpen: Bool { found.withLock { $0 != nil } }
}
