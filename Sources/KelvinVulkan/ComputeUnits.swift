import CKelvinSupport

/// The number of compute units of a device: streaming multiprocessors, shader cores, slices. Vulkan itself does not
/// report it.
enum ComputeUnits {
  /// A guess for devices whose driver does not report the number.
  private static let (discrete, integrated) = (32, 8)

  /// Returns the number that a vendor's extension reports, or a guess from the device's type.
  static func count(
    of physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>, _ type: VkPhysicalDeviceType
  ) -> Int {
    let reported = reported(physical, vk, extensions)
    guard reported <= 0 else { return reported }
    return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? discrete : integrated
  }

  /// Returns 0 if no extension reports the number.
  private static func reported(_ physical: VkPhysicalDevice, _ vk: KelvinVulkan, _ extensions: Set<String>) -> Int {
    if extensions.contains(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME) {
      var multiprocessors = VkPhysicalDeviceShaderSMBuiltinsPropertiesNV()
      multiprocessors.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV
      query(physical, vk, &multiprocessors)
      return Int(multiprocessors.shaderSMCount)
    }
    if extensions.contains(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME) {
      var cores = VkPhysicalDeviceShaderCorePropertiesAMD()
      cores.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD
      query(physical, vk, &cores)
      let arrays = Int(cores.shaderEngineCount) * Int(cores.shaderArraysPerEngineCount)
      return arrays * Int(cores.computeUnitsPerShaderArray)
    }
    if extensions.contains(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME) {
      var cores = VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM()
      cores.sType = VkStructureType(1_000_497_001)
      query(physical, vk, &cores)
      return Int(cores.shaderCoreCount)
    }
    return 0
  }

  private static func query<Properties>(
    _ physical: VkPhysicalDevice, _ vk: KelvinVulkan, _ properties: inout Properties
  ) {
    withUnsafeMutablePointer(to: &properties) { properties in
      var all = VkPhysicalDeviceProperties2()
      all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
      all.pNext = UnsafeMutableRawPointer(properties)
      vk.vkGetPhysicalDeviceProperties2!(physical, &all)
    }
  }
}
