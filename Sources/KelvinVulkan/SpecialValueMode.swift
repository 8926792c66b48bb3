import CKelvinSupport

/// Adds the execution mode `SignedZeroInfNanPreserve` to SPIR-V modules on devices that support it
/// (`VK_KHR_shader_float_controls`, part of Vulkan 1.2). The mode forbids a driver to assume that every float is
/// finite. The modules in `Shaders/spv` do not declare it, so that every device accepts them.
package enum SpecialValueMode {
  static let extensionName = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME

  // Numbers of the SPIR-V specification, section 3, "Binary Form".
  private static let headerWords = 5
  private static let opExtension: UInt32 = 10
  private static let opEntryPoint: UInt32 = 15
  private static let opExecutionMode: UInt32 = 16
  private static let opCapability: UInt32 = 17
  private static let capability: UInt32 = 4466
  private static let executionMode: UInt32 = 4461
  private static let floatBits: UInt32 = 32

  /// Returns the words of a module with the mode declared for its entry points.
  package static func added(to module: [UInt32]) -> [UInt32] {
    var words = Array(module.prefix(headerWords))
    var points: [UInt32] = []
    var isDeclared = false
    var index = headerWords
    while index < module.count {
      let (code, length) = (module[index] & 0xFFFF, max(Int(module[index] >> 16), 1))
      // Sections follow in this order: capabilities, extensions, …, entry points, execution modes.
      if !isDeclared, code != opCapability {
        words += instruction(opCapability, [capability]) + instruction(opExtension, text("SPV_KHR_float_controls"))
        isDeclared = true
      }
      if code != opEntryPoint, !points.isEmpty {
        words += points.flatMap { instruction(opExecutionMode, [$0, executionMode, floatBits]) }
        points = []
      }
      if code == opEntryPoint { points.append(module[index + 2]) }
      words += module[index..<min(index + length, module.count)]
      index += length
    }
    return words
  }

  /// Whether shaders of a device may declare the mode for float32.
  static func isOffered(by physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>) -> Bool {
    guard extensions.contains(extensionName) else { return false }
    var controls = VkPhysicalDeviceFloatControlsProperties()
    controls.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES
    withUnsafeMutablePointer(to: &controls) { controls in
      var properties = VkPhysicalDeviceProperties2()
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
      properties.pNext = UnsafeMutableRawPointer(controls)
      vk.vkGetPhysicalDeviceProperties2!(physical, &properties)
    }
    return controls.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE
  }

  private static func instruction(_ code: UInt32, _ operands: [UInt32]) -> [UInt32] {
    [UInt32(operands.count + 1) << 16 | code] + operands
  }

  /// Returns a literal string: UTF-8 with a terminating zero, padded to words.
  private static func text(_ text: String) -> [UInt32] {
    let bytes = Array(text.utf8)
    return (0...bytes.count / 4).map { word in
      (0..<4).reduce(UInt32(0)) { sum, place in
        let index = word * 4 + place
        return sum | (index < bytes.count ? UInt32(bytes[index]) << UInt32(8 * place) : 0)
      }
    }
  }
}
