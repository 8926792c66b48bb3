/// One row of `kelvin devices`: a device, or why a kind of device is unavailable.
package struct DeviceListing: Sendable {
  package let info: DeviceInfo
  /// The device; nil if it is absent.
  package let device: (any Device)?
  /// Why the device is absent and what would help; empty if it is present.
  package let reason: String

  package init(_ device: any Device) {
    info = device.info
    self.device = device
    reason = ""
  }

  package init(missing info: DeviceInfo, reason: String) {
    self.info = info
    device = nil
    self.reason = reason
  }
}
