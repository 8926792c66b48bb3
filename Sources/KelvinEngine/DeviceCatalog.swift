import KelvinCPU
import KelvinDevices
import KelvinReference
package import KelvinRuntime

#if GPU
import KelvinOpenCL
import KelvinVulkan
#endif

/// The devices of this machine, shared by all models of the process. A driver is opened when one of its devices is
/// first requested.
///
/// To add a device, add a line here. Formats are listed in `FormatCatalog.swift`, policies in `KelvinPlanning`,
/// passes in `KelvinPasses`.
package let deviceInventory = DeviceInventory(
  [DeviceFamily("cpu", of: [.cpu]) { CPUDevice.discover() }] + gpus
    + [DeviceFamily("reference", of: [.reference]) { [DeviceListing(ReferenceDevice())] }])

#if GPU
private let gpus = [
  DeviceFamily("vulkan", of: [.integratedGPU, .discreteGPU, .software], renews: true) { VulkanDevice.discover() },
  DeviceFamily("opencl", of: [.integratedGPU, .discreteGPU, .software, .accelerator], renews: true) {
    OpenCLDevice.discover()
  },
]
#else
/// Used if the package is built without the trait `GPU`.
private let gpus: [DeviceFamily] = []
#endif
