import Glibc
import KelvinDevices

/// Options for opening Vulkan devices.
package struct VulkanOptions: Hashable, @unchecked Sendable {
  /// Whether the Khronos validation layer is enabled; its messages are in `VulkanDevice.validationMessages`. The
  /// environment variable `KELVIN_VULKAN_VALIDATION=1` enables it too.
  package var validates: Bool
  /// Whether that layer, if enabled, also checks every access of a kernel to a buffer, which makes kernels slow.
  package var checksAccesses: Bool
  /// The properties that the devices imitate, if any.
  package var imitation: VulkanDeviceOverrides?
  /// Another loader's `vkGetInstanceProcAddr`; nil for that of libvulkan.so.1.
  package var entry: UnsafeRawPointer?
  /// The time limit of a submission, in seconds, until `DeviceHealth.allow` changes it.
  package var patience: Double

  package init(
    validates: Bool = false, checksAccesses: Bool = false, imitating imitation: VulkanDeviceOverrides? = nil,
    entry: UnsafeRawPointer? = nil, patience: Double = Watchdog.standard.floor
  ) {
    self.entry = entry
    self.patience = patience
    self.validates = validates || getenv("KELVIN_VULKAN_VALIDATION").map { $0.pointee == 0x31 } == true
    self.checksAccesses = checksAccesses
    self.imitation = imitation
  }
}
