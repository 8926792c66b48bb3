import KelvinCPU
import KelvinDevices
import KelvinReference
package import KelvinRuntime

#if GPU
import KelvinOpenCL
import KelvinVulkan
#endif

/// The devices of this machine, shared by every model of the process. A driver is opened when one of its devices is first
/// asked for.
///
/// A new device is one line here. Formats have their list in `FormatCatalog.swift`, policies in `KelvinPlanning`, passes in
/// `KelvinPasses`.
package let deviceInventory = DeviceInventory(
  [DeviceFamily("cpu", of: [.cpu]) { CPUDevice.discover() }] + gpus
    + [DeviceFamily("reference", of: [.reference]) { [DeviceListing(ReferenceDevice())] }])

#if GPU
private let gpus = [
  DeviceFamily("vulkan", of: [.integratedGPU, .discreteGPU, .software]) { VulkanDevice.discover() },
  DeviceFamily("opencl", of: [.integratedGPU, .discreteGPU, .software, .accelerator]) { OpenCLDevice.discover() },
]
#else
/// The package was built without its trait `GPU`.
private let gpus: [DeviceFamily] = []
#endif
