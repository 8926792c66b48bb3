import CKelvinSupport
import KelvinDevices

/// The logical device, its queue, and the state shared by all objects created from it.
final class VulkanContext: @unchecked Sendable {
  let instance: VulkanInstance
  private let physical: VkPhysicalDevice
  let properties: VulkanProperties
  let id: String
  /// The kind of descriptor through which kernels access buffers.
  let operands: OperandPath
  /// Whether the driver checks every access to a buffer (`robustBufferAccess`).
  let checksBounds: Bool
  let vk: KelvinVulkan
  let device: VkDevice
  let health: DeviceHealth
  private let queue: VkQueue
  private let queueLock = DeviceLock(())
  private let staging = DeviceLock<VulkanStaging?>(nil)

  init(
    _ instance: VulkanInstance, _ physical: VkPhysicalDevice, _ properties: VulkanProperties, id: String,
    traits: VulkanTraits, patience: Double
  ) throws(DeviceError) {
    health = DeviceHealth(
      patience: patience, processorTime: properties.isSoftware ? DriverProcessorTime.used : nil)
    self.instance = instance
    self.physical = physical
    self.properties = properties
    self.id = id
    operands = traits.operands
    vk = instance.vk
    var available = VkPhysicalDeviceFeatures2()
    available.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
    vk.vkGetPhysicalDeviceFeatures2!(physical, &available)
    var features = VkPhysicalDeviceFeatures()
    // Bounds checks can triple the instructions of a kernel: some compilers then read vectors element by element.
    features.robustBufferAccess = traits.readsPastOperands ? available.features.robustBufferAccess : VkBool32(VK_FALSE)
    checksBounds = features.robustBufferAccess == VK_TRUE
    features.shaderInt64 = VkBool32(properties.hasInt64 ? VK_TRUE : VK_FALSE)
    var storage = VkPhysicalDevice16BitStorageFeatures()
    storage.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES
    storage.storageBuffer16BitAccess = VkBool32(properties.stores16Bits ? VK_TRUE : VK_FALSE)
    var dots = DotProduct.feature(properties.dotProduct == .accelerated)
    var halves = HalfArithmeticFeatures.enabled
    var device: VkDevice?
    let result = halves.withChain(hasMatrices: properties.cooperativeMatrix != nil) { chain in
      withUnsafeMutablePointer(to: &dots) { dots in
        dots.pointee.pNext = properties.multipliesHalves ? chain : nil
        storage.pNext =
          properties.dotProduct == .accelerated ? UnsafeMutableRawPointer(dots) : dots.pointee.pNext
        return withUnsafePointer(to: Float(1)) { priority in
          var queueInformation = VkDeviceQueueCreateInfo()
          queueInformation.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO
          queueInformation.queueFamilyIndex = properties.queueFamily
          queueInformation.queueCount = 1
          queueInformation.pQueuePriorities = priority
          return withUnsafePointer(to: queueInformation) { queueInformation in
            withUnsafePointer(to: (features, storage)) { enabled in
              withCStrings(properties.enabledExtensions) { extensions in
                var information = VkDeviceCreateInfo()
                information.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO
                information.pNext = UnsafeRawPointer(enabled.pointer(to: \.1))
                information.queueCreateInfoCount = 1
                information.pQueueCreateInfos = queueInformation
                information.pEnabledFeatures = enabled.pointer(to: \.0)
                information.enabledExtensionCount = UInt32(extensions.count)
                information.ppEnabledExtensionNames = extensions.baseAddress
                return instance.vk.vkCreateDevice!(physical, &information, nil, &device)
              }
            }
          }
        }
      }
    }
    guard result == VK_SUCCESS, let device else { throw Self.error(result, id, "vkCreateDevice") }
    self.device = device
    var queue: VkQueue?
    instance.vk.vkGetDeviceQueue!(device, properties.queueFamily, 0, &queue)
    guard let queue else {
      vk.vkDestroyDevice!(device, nil)
      throw Self.error(VK_ERROR_INITIALIZATION_FAILED, id, "vkGetDeviceQueue")
    }
    self.queue = queue
  }

  deinit {
    health.freeing(id) { [health, staging, vk, device] in
      try? staging.withLock(health) { (staging) throws(DeviceError) in staging?.destroy(vk, device) }
      vk.vkDestroyDevice!(device, nil)
    }
    if !health.mayFree { LeakedResources.keep(instance) }
  }

  /// Checks the result of a driver call.
  ///
  /// - Parameters:
  ///   - byteCount: the size requested, for a call that allocates memory.
  ///   - compiles: whether the call compiles code. An unspecific error is then a compilation error.
  /// - Throws: the typed error of a failed call. A lost device is disabled.
  func check(
    _ result: VkResult, _ place: String, byteCount: Int? = nil, compiles: Bool = false
  ) throws(DeviceError) {
    DriverThread.beat()
    guard result != VK_SUCCESS else { return }
    let error = Self.error(result, id, place, byteCount: byteCount, compiles: compiles)
    if error.takesDeviceOut { health.takeOut(error) }
    throw error
  }

  /// Waits for a fence that the queue signals, up to the device's time limit.
  ///
  /// - Returns: the duration of the submission in seconds, as far as is known (`DeviceHealth.wait`).
  /// - Throws: the error that disabled the device. A hung device and a failed wait disable it too, because the queue
  ///   may still be running.
  @discardableResult
  func wait(_ fence: VkFence, for submission: DeviceHealth.Submission) throws(DeviceError) -> Double {
    let place = "vkWaitForFences"
    try health.check()
    if health.hasEnded(submission) { return 0 }
    return try health.wait(id, place, for: submission) { (seconds) throws(DeviceError) -> Bool in
      let nanoseconds = UInt64(min(seconds, 1e9) * 1e9)
      let result = withUnsafePointer(to: Optional(fence)) {
        vk.vkWaitForFences!(device, 1, $0, VkBool32(VK_TRUE), nanoseconds)
      }
      if result == VK_SUCCESS || result == VK_TIMEOUT { return result == VK_SUCCESS }
      let failure = Self.error(result, id, place).asLoss()
      health.takeOut(failure)
      throw failure
    }
  }

  /// The bytes that the process can still allocate from a heap, as the driver reports them now.
  func freeMemory(inHeap heap: Int) -> Int { MemoryBudget(of: physical, vk).free(inHeap: heap) }

  /// Destroys objects that the device no longer needs. Objects that a disabled device may still use are leaked.
  func free(_ destroy: @escaping () -> Void) { health.freeing(id, destroy) }

  /// Runs a function that calls the driver, on a `DriverThread`.
  func guarded<Result>(
    _ place: String, _ kind: DriverCallKind = .short, _ body: @escaping () throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    try health.guarded(id, place, kind, body)
  }

  /// Runs `count` functions that call the driver, several at a time; Vulkan must allow these calls in parallel.
  func guardedEach(
    _ place: String, _ kind: DriverCallKind, _ count: Int, _ body: @escaping @Sendable (Int) throws(DeviceError) -> Void
  ) throws(DeviceError) {
    try health.guardedEach(id, place, kind, count, body)
  }

  func error(_ code: DeviceError.Code, _ place: String, _ reason: String, byteCount: Int? = nil) -> DeviceError {
    DeviceError(code, device: id, place: place, reason: reason, byteCount: byteCount)
  }

  /// Submits recorded commands; `fence` is signalled when they have completed.
  ///
  /// - Parameter mayCompile: whether the driver may compile the pipelines first.
  func submit(
    _ commands: VkCommandBuffer, fence: VkFence, mayCompile: Bool
  ) throws(DeviceError) -> DeviceHealth.Submission {
    try queueLock.withLock(health) { (_) throws(DeviceError) in
      let result = withUnsafePointer(to: Optional(commands)) { commands in
        var information = VkSubmitInfo()
        information.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO
        information.commandBufferCount = 1
        information.pCommandBuffers = commands
        return vk.vkQueueSubmit!(queue, 1, &information, fence)
      }
      try check(result, "vkQueueSubmit")
      return health.submitted(mayCompile: mayCompile)
    }
  }

  /// Gives `body` exclusive access to the staging buffer, for copies between host memory and memory that the host
  /// cannot address.
  func withStaging<Result>(
    _ body: (VulkanStaging) throws(DeviceError) -> Result
  ) throws(DeviceError) -> Result {
    try staging.withLock(health) { (staging: inout VulkanStaging?) throws(DeviceError) -> Result in
      if let staging { return try body(staging) }
      let made = try VulkanStaging(self)
      staging = made
      return try body(made)
    }
  }

  private static func error(
    _ result: VkResult, _ id: String, _ place: String, byteCount: Int? = nil, compiles: Bool = false
  ) -> DeviceError {
    switch result {
    case VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_POOL_MEMORY,
      VK_ERROR_FRAGMENTED_POOL, VK_ERROR_FRAGMENTATION, VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_MEMORY_MAP_FAILED:
      DeviceError(
        .outOfMemory, device: id, place: place, reason: "out of memory; use a smaller batch", byteCount: byteCount)
    case VK_ERROR_DEVICE_LOST:
      DeviceError(.lost, device: id, place: place, reason: "the device was lost")
    case VK_ERROR_UNKNOWN where compiles, VK_ERROR_INITIALIZATION_FAILED where compiles:
      DeviceError(
        .compilation, device: id, place: place, reason: "the driver cannot compile it (VkResult \(result.rawValue))")
    case VK_ERROR_UNKNOWN, VK_ERROR_INITIALIZATION_FAILED:
      // Drivers return these results after a device reset.
      DeviceError(.lost, device: id, place: place, reason: "the driver failed (VkResult \(result.rawValue))")
    default:
      DeviceError(.execution, device: id, place: place, reason: "the driver returned VkResult \(result.rawValue)")
    }
  }
}
