import CKelvinSupport

/// Integer dot products of four signed bytes in a word (`VK_KHR_shader_integer_dot_product`, part of Vulkan 1.3).
enum DotProduct: Sendable {
  case absent
  /// Shaders may use dot products; the driver chooses the instructions.
  case present
  /// The driver reports that dot products are faster than the equivalent instructions.
  case accelerated

  static let extensionName = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME

  init(of physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>) {
    guard extensions.contains(Self.extensionName) else {
      self = .absent
      return
    }
    var products = Self.feature(false)
    var speeds = VkPhysicalDeviceShaderIntegerDotProductProperties()
    speeds.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES
    withUnsafeMutablePointer(to: &products) { products in
      var features = VkPhysicalDeviceFeatures2()
      features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
      features.pNext = UnsafeMutableRawPointer(products)
      vk.vkGetPhysicalDeviceFeatures2!(physical, &features)
    }
    withUnsafeMutablePointer(to: &speeds) { speeds in
      var properties = VkPhysicalDeviceProperties2()
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
      properties.pNext = UnsafeMutableRawPointer(speeds)
      vk.vkGetPhysicalDeviceProperties2!(physical, &properties)
    }
    guard products.shaderIntegerDotProduct == VK_TRUE else {
      self = .absent
      return
    }
    self = speeds.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE ? .accelerated : .present
  }

  /// Returns the feature structure for device creation.
  static func feature(_ isEnabled: Bool) -> VkPhysicalDeviceShaderIntegerDotProductFeatures {
    var feature = VkPhysicalDeviceShaderIntegerDotProductFeatures()
    feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES
    feature.shaderIntegerDotProduct = VkBool32(isEnabled ? VK_TRUE : VK_FALSE)
    return feature
  }
}
