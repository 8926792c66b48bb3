package import KelvinDevices
import Synchronization

/// The devices behind one interface: `vulkan:0`, `vulkan:1`, …. They are looked for when one of them is first asked for,
/// and once, since looking opens the interface's driver.
package final class DeviceFamily: Sendable {
  /// What the devices' ids begin with: all before the colon.
  let name: String
  /// What its devices may be.
  let kinds: Set<DeviceInfo.Kind>
  private let find: @Sendable () -> [DeviceListing]
  private let found = Mutex<[DeviceListing]?>(nil)

  /// - Parameter find: lists the devices, or why there are none.
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

  /// Whether anybody has asked for one of them.
  var isOpen: Bool { found.withLock { $0 != nil } }
}
