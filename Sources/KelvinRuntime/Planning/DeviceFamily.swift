package import KelvinDevices
import Synchronization

/// The devices of one interface: `vulkan:0`, `vulkan:1`, …. They are enumerated once, when one of them is first
/// requested, because enumeration opens the interface's driver.
package final class DeviceFamily: Sendable {
  /// The prefix of the devices' ids, up to the colon.
  let name: String
  /// The kinds that its devices may have.
  let kinds: Set<DeviceInfo.Kind>
  private let find: @Sendable () -> [DeviceListing]
  private let found = Mutex<[DeviceListing]?>(nil)

  /// - Parameter find: lists the devices, or the reason why there are none.
  package init(_ name: String, of kinds: Set<DeviceInfo.Kind>, find: @escaping @Sendable () -> [DeviceListing]) {
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

  var devices: [any Device] { listings.compactMap(\.device) }

  /// Whether its devices have been enumerated.
  var isOpen: Bool { found.withLock { $0 != nil } }
}
