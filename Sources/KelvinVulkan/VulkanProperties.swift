import CKelvinSupport
import KelvinDevices

/// The properties that a physical device reports.
struct VulkanProperties: Sendable {
  var name: String
  var type: VkPhysicalDeviceType
  /// Whether the driver computes on the CPU, whatever `type` imitates.
  let isSoftware: Bool
  var apiVersion: UInt32
  var driverVersion: UInt32
  var vendor: UInt32
  var device: UInt32
  var uuid: [UInt8]
  /// The key of the driver's pipeline cache.
  var cacheUUID: [UInt8]
  var driver: String
  var limits: VkPhysicalDeviceLimits
  /// The largest size of one allocation, in bytes.
  var largestAllocation: Int
  /// The major version of Mesa, if the driver is Mesa's; `driverVersion` of llvmpipe does not contain it.
  var mesaMajor: Int?
  var subgroupSize: Int
  /// Units that run groups independently, as reported or guessed (`ComputeUnits`).
  var computeUnits: Int
  var hasShuffle: Bool
  /// Whether shaders support 64-bit integers.
  var hasInt64: Bool
  var memory: VkPhysicalDeviceMemoryProperties
  /// Whether the driver reports how much memory is in use (`MemoryBudget`).
  var hasMemoryBudget: Bool
  var queueFamily: UInt32
  var timestampBits: UInt32
  /// Whether shaders may declare that floats may be infinite or NaN (`SpecialValueMode`).
  var preservesSpecialValues: Bool
  /// Whether shaders may read and write 16 bits of a storage buffer.
  var stores16Bits: Bool
  /// Whether shaders compute in float16.
  var multipliesHalves: Bool
  /// The matrix size that subgroups multiply, if shaders read, write and compute in float16.
  var cooperativeMatrix: CooperativeMatrix?
  /// The support for dot products of four bytes.
  var dotProduct: DotProduct
  /// The import of host memory; nil if weights are copied.
  var memoryImport: MemoryImport?
  /// The kind of memory to imitate, regardless of the memory types.
  var imitatedMemory: VulkanDeviceOverrides.Memory?

  /// - Throws: `.unavailable` if the device does not support Vulkan 1.1 or has no compute queue.
  init(_ physical: VkPhysicalDevice, _ vk: KelvinVulkan, imitating imitation: VulkanDeviceOverrides?)
    throws(DeviceError)
  {
    var properties = VkPhysicalDeviceProperties2()
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
    vk.vkGetPhysicalDeviceProperties2!(physical, &properties)
    let basic = properties.properties
    name = text(basic.deviceName)
    guard basic.apiVersion >= vulkanVersion11 else {
      throw .absent("\(text(basic.deviceName)) offers Vulkan \(versionText(basic.apiVersion)); 1.1 is needed")
    }
    var identity = VkPhysicalDeviceIDProperties()
    identity.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES
    var subgroup = VkPhysicalDeviceSubgroupProperties()
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES
    var maintenance = VkPhysicalDeviceMaintenance3Properties()
    maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES
    var driverNames = VkPhysicalDeviceDriverProperties()
    driverNames.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
    let namesDriver = basic.apiVersion >= 1 << 22 | 2 << 12
    withUnsafeMutablePointer(to: &identity) { identity in
      withUnsafeMutablePointer(to: &subgroup) { subgroup in
        withUnsafeMutablePointer(to: &maintenance) { maintenance in
          withUnsafeMutablePointer(to: &driverNames) { names in
            properties.pNext = UnsafeMutableRawPointer(identity)
            identity.pointee.pNext = UnsafeMutableRawPointer(subgroup)
            subgroup.pointee.pNext = UnsafeMutableRawPointer(maintenance)
            maintenance.pointee.pNext = namesDriver ? UnsafeMutableRawPointer(names) : nil
            vk.vkGetPhysicalDeviceProperties2!(physical, &properties)
          }
        }
      }
    }
    type = basic.deviceType
    isSoftware = type == VK_PHYSICAL_DEVICE_TYPE_CPU
    apiVersion = basic.apiVersion
    driverVersion = basic.driverVersion
    vendor = basic.vendorID
    device = basic.deviceID
    uuid = withUnsafeBytes(of: identity.deviceUUID) { Array($0) }
    cacheUUID = withUnsafeBytes(of: basic.pipelineCacheUUID) { Array($0) }
    let named = "\(text(driverNames.driverName)) \(text(driverNames.driverInfo))"
    driver = namesDriver ? named : "driver version \(basic.driverVersion)"
    mesaMajor = Self.mesaMajor(named)
    limits = basic.limits
    largestAllocation = Int(clamping: maintenance.maxMemoryAllocationSize)
    subgroupSize = Int(subgroup.subgroupSize)
    let needed = VK_SUBGROUP_FEATURE_BASIC_BIT.rawValue | VK_SUBGROUP_FEATURE_SHUFFLE_BIT.rawValue
    hasShuffle =
      subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT.rawValue != 0
      && subgroup.supportedOperations & needed == needed
    var memories = VkPhysicalDeviceMemoryProperties2()
    memories.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
    vk.vkGetPhysicalDeviceMemoryProperties2!(physical, &memories)
    memory = memories.memoryProperties

    var count: UInt32 = 0
    vk.vkGetPhysicalDeviceQueueFamilyProperties!(physical, &count, nil)
    var families = [VkQueueFamilyProperties](repeating: VkQueueFamilyProperties(), count: Int(count))
    vk.vkGetPhysicalDeviceQueueFamilyProperties!(physical, &count, &families)
    let compute = VK_QUEUE_COMPUTE_BIT.rawValue
    guard let family = families.prefix(Int(count)).firstIndex(where: { $0.queueFlags & compute != 0 }) else {
      throw .absent("\(text(basic.deviceName)) has no compute queue")
    }
    queueFamily = UInt32(family)
    timestampBits = families[family].timestampValidBits
    let extensions = Self.extensions(of: physical, vk)
    computeUnits = ComputeUnits.count(of: physical, vk, extensions: extensions, type)
    preservesSpecialValues = SpecialValueMode.isOffered(by: physical, vk, extensions: extensions)
    var available = VkPhysicalDeviceFeatures2()
    available.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
    vk.vkGetPhysicalDeviceFeatures2!(physical, &available)
    hasInt64 = available.features.shaderInt64 == VK_TRUE
    stores16Bits = Self.stores16Bits(physical, vk)
    let halves = HalfArithmeticFeatures(of: physical, vk, extensions: extensions)
    multipliesHalves = halves.multipliesHalves
    cooperativeMatrix = stores16Bits && halves.multipliesMatrices ? CooperativeMatrix(of: physical, vk) : nil
    dotProduct = DotProduct(of: physical, vk, extensions: extensions)
    hasMemoryBudget = extensions.contains(MemoryBudget.extensionName)
    if let imitation { imitate(imitation) }
    memoryImport =
      kind == .software && imitatedMemory == nil
      ? MemoryImport(of: physical, vk, extensions: extensions, limits) : nil
  }

  private static func stores16Bits(_ physical: VkPhysicalDevice, _ vk: KelvinVulkan) -> Bool {
    var storage = VkPhysicalDevice16BitStorageFeatures()
    storage.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES
    withUnsafeMutablePointer(to: &storage) { storage in
      var features = VkPhysicalDeviceFeatures2()
      features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
      features.pNext = UnsafeMutableRawPointer(storage)
      vk.vkGetPhysicalDeviceFeatures2!(physical, &features)
    }
    return storage.storageBuffer16BitAccess == VK_TRUE
  }

  private static func mesaMajor(_ driver: String) -> Int? {
    let words = driver.split(separator: " ")
    guard let name = words.firstIndex(of: "Mesa"), name + 1 < words.endIndex else { return nil }
    return words[name + 1].split(separator: ".").first.flatMap { Int($0) }
  }

  private mutating func imitate(_ imitation: VulkanDeviceOverrides) {
    if imitation.isHardware, type == VK_PHYSICAL_DEVICE_TYPE_CPU { type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU }
    imitatedMemory = imitation.memory
    limits.maxTexelBufferElements = min(limits.maxTexelBufferElements, imitation.texelLimit ?? .max)
    limits.maxStorageBufferRange = min(limits.maxStorageBufferRange, imitation.storageLimit ?? .max)
    let (counts, groups) = (limits.maxComputeWorkGroupCount, imitation.groupLimit ?? .max)
    limits.maxComputeWorkGroupCount = (min(counts.0, groups), min(counts.1, groups), min(counts.2, groups))
    limits.maxPerStageDescriptorStorageBuffers = min(
      limits.maxPerStageDescriptorStorageBuffers, imitation.storageBuffers ?? .max)
    if mesaMajor != nil { mesaMajor = imitation.mesaMajor ?? mesaMajor }
    subgroupSize = imitation.subgroupSize ?? subgroupSize
    computeUnits = imitation.computeUnits ?? computeUnits
    if imitation.acceleratesDotProducts, dotProduct == .present { dotProduct = .accelerated }
  }

  /// The extensions that a device is opened with.
  var enabledExtensions: [String] {
    (preservesSpecialValues ? [SpecialValueMode.extensionName] : [])
      + (multipliesHalves ? [HalfArithmeticFeatures.extensionName] : [])
      + (cooperativeMatrix == nil ? [] : CooperativeMatrix.extensionNames)
      + (dotProduct == .accelerated ? [DotProduct.extensionName] : [])
      + (memoryImport == nil ? [] : [MemoryImport.extensionName])
  }

  /// Returns the names of the extensions that a device offers; empty if the driver cannot list them.
  private static func extensions(of physical: VkPhysicalDevice, _ vk: KelvinVulkan) -> Set<String> {
    var count: UInt32 = 0
    guard vk.vkEnumerateDeviceExtensionProperties!(physical, nil, &count, nil) == VK_SUCCESS else { return [] }
    var extensions = [VkExtensionProperties](repeating: VkExtensionProperties(), count: Int(count))
    guard vk.vkEnumerateDeviceExtensionProperties!(physical, nil, &count, &extensions) == VK_SUCCESS else { return [] }
    return Set(extensions.prefix(Int(count)).map { text($0.extensionName) })
  }

  var kind: DeviceInfo.Kind {
    switch type {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: .discreteGPU
    case VK_PHYSICAL_DEVICE_TYPE_CPU: .software
    default: .integratedGPU
    }
  }

  func info(index: Int) -> DeviceInfo {
    DeviceInfo(
      id: "vulkan:\(index)", name: name, kind: kind, driver: driver, version: versionText(apiVersion),
      memory: deviceMemory, resource: kind == .software ? "cpu" : uuidText)
  }

  var uuidText: String {
    uuid.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }.joined()
  }

  /// The size of all device-local heaps, in bytes.
  private var deviceMemory: Int { localHeaps.reduce(0, +) }

  /// The size of the largest device-local heap, in bytes.
  var largestLocalHeap: Int { localHeaps.max() ?? 0 }

  private var localHeaps: [Int] {
    heaps.filter { $0.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT.rawValue != 0 }.map { Int(clamping: $0.size) }
  }

  private var heaps: [VkMemoryHeap] {
    withUnsafeBytes(of: memory.memoryHeaps) {
      Array($0.bindMemory(to: VkMemoryHeap.self).prefix(Int(memory.memoryHeapCount)))
    }
  }

  private var memoryTypes: [VkMemoryType] {
    withUnsafeBytes(of: memory.memoryTypes) {
      Array($0.bindMemory(to: VkMemoryType.self).prefix(Int(memory.memoryTypeCount)))
    }
  }

  func memoryFlags(ofType index: UInt32) -> UInt32 { memoryTypes[Int(index)].propertyFlags }

  func heap(ofType index: UInt32) -> Int { Int(memoryTypes[Int(index)].heapIndex) }

  func heapByteCount(ofType index: UInt32) -> Int { Int(clamping: heaps[heap(ofType: index)].size) }

  /// Returns the first memory type that `allowed` permits and that has all `flags`.
  func memoryType(allowed: UInt32, flags: UInt32) -> UInt32? {
    let types = memoryTypes
    return types.indices.first { allowed & 1 << UInt32($0) != 0 && types[$0].propertyFlags & flags == flags }
      .map { UInt32($0) }
  }
}

func versionText(_ version: UInt32) -> String { "\(version >> 22 & 0x7F).\(version >> 12 & 0x3FF).\(version & 0xFFF)" }
