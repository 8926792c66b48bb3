import KelvinCPU
import KelvinDevices
import KelvinOpenCL
import KelvinReference
package import KelvinRuntime
import KelvinVulkan

/// The devices of this machine, found once and shared by every model of the process.
///
/// A new device is one line here. Formats have their list in `KelvinFormats`, policies in `KelvinPlanning`, passes in
/// `KelvinPasses`.
package let deviceInventory = DeviceInventory(
  CPUDevice.discover()
    + VulkanDevice.discover()
    + OpenCLDevice.discover()
    + [DeviceListing(ReferenceDevice())]
)
