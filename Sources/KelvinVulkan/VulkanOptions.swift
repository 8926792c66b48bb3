import Glibc
import KelvinDevices

/// How Vulkan devices are opened.
package struct VulkanOptions: Hashable, @unchecked Sendable {
  /// Whether the Khronos validation layer watches; its messages are in `VulkanDevice.validationMessages`. Also turned
  /// on by the environment variable `KELVIN_VULKAN_VALIDATION=1`.
  package var validates: Bool
  /// What the devices are taken for instead of what they are.
  package var imitation: VulkanDeviceOverrides?
  /// Another loader's `vkGetInstanceProcAddr`; nil for that of libvulkan.so.1.
  package var entry: UnsafeRawPointer?
  /// Seconds that a submission may take until `DeviceHealth.allow` says otherwise.
  package var patience: Double

  package init(
    validates: Bool = false, imitating imitation: VulkanDeviceOverrides? = nil, entry: UnsafeRawPointer? = nil,
    patience: Double = Watchdog.standard.floor
  ) {
    self.entry = entry
    self.patience = patience
    self.validates = validates || getenv("KELVIN_VULKAN_VALIDATION").map { $0.pointee == 0x31 } == true
    self.imitation = imitation
  }
}
