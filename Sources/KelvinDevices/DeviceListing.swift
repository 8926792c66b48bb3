/// One row of `kelvin devices`: a device that can be used, or why a kind of device cannot.
package struct DeviceListing: Sendable {
  package let info: DeviceInfo
  /// Nil where the device is absent.
  package let device: (any Device)?
  /// Why the device is absent and what would help; empty where it is present.
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
