import CKelvinDrivers
import KelvinDevices
import Synchronization

/// The logical device, its queue, and what every object made from it shares.
final class VulkanContext: @unchecked Sendable {
  let instance: VulkanInstance
  let properties: VulkanProperties
  let id: String
  let vk: KelvinVulkan
  let device: VkDevice
  private let queue: VkQueue
  private let queueLock = Mutex<Void>(())
  private let staging = Mutex<VulkanStaging?>(nil)

  init(
    _ instance: VulkanInstance, _ physical: VkPhysicalDevice, _ properties: VulkanProperties, id: String
  ) throws(DeviceError) {
    self.instance = instance
    self.properties = properties
    self.id = id
    vk = instance.vk
    var available = VkPhysicalDeviceFeatures()
    vk.vkGetPhysicalDeviceFeatures!(physical, &available)
    var features = VkPhysicalDeviceFeatures()
    features.robustBufferAccess = available.robustBufferAccess
    var device: VkDevice?
    let result = withUnsafePointer(to: Float(1)) { priority in
      var queueInformation = VkDeviceQueueCreateInfo()
      queueInformation.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO
      queueInformation.queueFamilyIndex = properties.queueFamily
      queueInformation.queueCount = 1
      queueInformation.pQueuePriorities = priority
      return withUnsafePointer(to: queueInformation) { queueInformation in
        withUnsafePointer(to: features) { features in
          withCStrings(properties.preservesSpecialValues ? [SpecialValueMode.extensionName] : []) { extensions in
            var information = VkDeviceCreateInfo()
            information.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO
            information.queueCreateInfoCount = 1
            information.pQueueCreateInfos = queueInformation
            information.pEnabledFeatures = features
            information.enabledExtensionCount = UInt32(extensions.count)
            information.ppEnabledExtensionNames = extensions.baseAddress
            return instance.vk.vkCreateDevice!(physical, &information, nil, &device)
          }
        }
      }
    }
    guard result == VK_SUCCESS, let device else { throw Self.error(result, id, "vkCreateDevice") }
    self.device = device
    var queue: VkQueue?
    instance.vk.vkGetDeviceQueue!(device, properties.queueFamily, 0, &queue)
    guard let queue else { throw Self.error(VK_ERROR_INITIALIZATION_FAILED, id, "vkGetDeviceQueue") }
    self.queue = queue
  }

  deinit {
    staging.withLock { $0?.destroy() }
    vk.vkDestroyDevice!(device, nil)
  }

  /// - Throws: the typed form of a failed call.
  func check(_ result: VkResult, _ place: String) throws(DeviceError) {
    guard result == VK_SUCCESS else { throw Self.error(result, id, place) }
  }

  func error(_ code: DeviceError.Code, _ place: String, _ reason: String) -> DeviceError {
    DeviceError(code, device: id, place: place, reason: reason)
  }

  /// Starts recorded work; `fence` is signalled when it has completed.
  func submit(_ commands: VkCommandBuffer, fence: VkFence) throws(DeviceError) {
    let result = withUnsafePointer(to: Optional(commands)) { commands in
      var information = VkSubmitInfo()
      information.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO
      information.commandBufferCount = 1
      information.pCommandBuffers = commands
      return queueLock.withLock { _ in vk.vkQueueSubmit!(queue, 1, &information, fence) }
    }
    try check(result, "vkQueueSubmit")
  }

  /// Lends the one staging buffer, for copies between host memory and memory that the host cannot address.
  func withStaging<Result>(
    _ body: (VulkanStaging) throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    try staging.withLock { (staging: inout VulkanStaging?) throws(DeviceError) -> Result in
      if let staging { return try body(staging) }
      let made = try VulkanStaging(self)
      staging = made
      return try body(made)
    }
  }

  private static func error(_ result: VkResult, _ id: String, _ place: String) -> DeviceError {
    switch result {
    case VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY:
      DeviceError(.outOfMemory, device: id, place: place, reason: "out of memory; use a smaller batch")
    case VK_ERROR_DEVICE_LOST:
      DeviceError(.lost, device: id, place: place, reason: "the device was lost; open it again or use another")
    default:
      DeviceError(.execution, device: id, place: place, reason: "the driver answered VkResult \(result.rawValue)")
    }
  }
}
