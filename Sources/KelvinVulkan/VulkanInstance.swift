import CKelvinSupport
import KelvinDevices
import Synchronization

/// The opened Vulkan library and its instance.
final class VulkanInstance: @unchecked Sendable {
  let vk: KelvinVulkan
  let handle: VkInstance
  let log: ValidationLog
  private let messenger: VkDebugUtilsMessengerEXT?
  private let health: DeviceHealth

  /// - Throws: `.unavailable` with the reason and the remedy if there is no loader or no driver.
  init(options: VulkanOptions) throws(DeviceError) {
    var vk = KelvinVulkan()
    if let reason = kelvin_vulkan_open(&vk, options.entry) {
      let remedy = kelvin_library_is_absent(reason) ? "; install the Vulkan loader (package libvulkan1)" : ""
      throw .absent(String(cString: reason) + remedy)
    }
    let layer = "VK_LAYER_KHRONOS_validation"
    if options.validates {
      guard Self.layers(vk).contains(layer) else {
        throw .absent("the validation layer was asked for and is missing; install the package vulkan-validationlayers")
      }
    }
    let checksAccesses = options.validates && options.checksAccesses
    let extensions =
      (options.validates ? ["VK_EXT_debug_utils"] : []) + (checksAccesses ? ["VK_EXT_validation_features"] : [])
    let log = ValidationLog()
    var handle: VkInstance?
    var application = VkApplicationInfo()
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO
    application.apiVersion = vulkanVersion11
    var information = VkInstanceCreateInfo()
    information.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
    let result = withUnsafePointer(to: application) { application in
      information.pApplicationInfo = application
      return withCStrings(options.validates ? [layer] : []) { layers in
        withCStrings(extensions) { extensions in
          withUnsafePointer(to: VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT) { feature in
            var features = VkValidationFeaturesEXT()
            features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT
            features.enabledValidationFeatureCount = 1
            features.pEnabledValidationFeatures = feature
            return withUnsafePointer(to: features) { features in
              information.pNext = checksAccesses ? UnsafeRawPointer(features) : nil
              information.enabledLayerCount = UInt32(layers.count)
              information.ppEnabledLayerNames = layers.baseAddress
              information.enabledExtensionCount = UInt32(extensions.count)
              information.ppEnabledExtensionNames = extensions.baseAddress
              return vk.vkCreateInstance!(&information, nil, &handle)
            }
          }
        }
      }
    }
    guard result == VK_SUCCESS, let handle else {
      let remedy = "install a Vulkan driver (package mesa-vulkan-drivers has llvmpipe, which needs no GPU)"
      throw .absent("no driver could be opened (VkResult \(result.rawValue)); \(remedy)")
    }
    if let missing = kelvin_vulkan_load(&vk, handle, options.entry) {
      throw .absent("the driver lacks \(String(cString: missing)); Vulkan 1.1 is needed")
    }
    health = DeviceHealth(patience: options.patience)
    self.vk = vk
    self.handle = handle
    self.log = log
    messenger = options.validates ? log.attach(to: handle, vk) : nil
  }

  deinit {
    health.freeing("vulkan") { [vk, handle, messenger, log] in
      if let messenger { vk.vkDestroyDebugUtilsMessengerEXT?(handle, messenger, nil) }
      vk.vkDestroyInstance!(handle, nil)
      withExtendedLifetime(log) {}
    }
  }

  var isValidated: Bool { messenger != nil }

  var physicalDevices: [VkPhysicalDevice] {
    var count: UInt32 = 0
    guard vk.vkEnumeratePhysicalDevices!(handle, &count, nil) == VK_SUCCESS, count > 0 else { return [] }
    var devices = [VkPhysicalDevice?](repeating: nil, count: Int(count))
    guard vk.vkEnumeratePhysicalDevices!(handle, &count, &devices).rawValue >= 0 else { return [] }
    return devices.prefix(Int(count)).compactMap { $0 }
  }

  private static func layers(_ vk: KelvinVulkan) -> [String] {
    var count: UInt32 = 0
    guard vk.vkEnumerateInstanceLayerProperties!(&count, nil) == VK_SUCCESS else { return [] }
    var layers = [VkLayerProperties](repeating: VkLayerProperties(), count: Int(count))
    guard vk.vkEnumerateInstanceLayerProperties!(&count, &layers).rawValue >= 0 else { return [] }
    return layers.prefix(Int(count)).map { text($0.layerName) }
  }
}

/// Messages of the validation layer.
final class ValidationLog: Sendable {
  private let lines = Mutex<[String]>([])

  var messages: [String] { lines.withLock { $0 } }

  func append(_ line: String) { lines.withLock { $0.append(line) } }

  /// Attaches the log, which must outlive the messenger.
  func attach(to instance: VkInstance, _ vk: KelvinVulkan) -> VkDebugUtilsMessengerEXT? {
    var information = VkDebugUtilsMessengerCreateInfoEXT()
    information.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT
    information.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT.rawValue | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT.rawValue
    information.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT.rawValue
    information.pUserData = Unmanaged.passUnretained(self).toOpaque()
    information.pfnUserCallback = { _, _, data, log in
      if let log, let message = data?.pointee.pMessage {
        Unmanaged<ValidationLog>.fromOpaque(log).takeUnretainedValue().append(String(cString: message))
      }
      return VkBool32(VK_FALSE)
    }
    var messenger: VkDebugUtilsMessengerEXT?
    guard vk.vkCreateDebugUtilsMessengerEXT?(instance, &information, nil, &messenger) == VK_SUCCESS else { return nil }
    return messenger
  }
}

let vulkanVersion11: UInt32 = 1 << 22 | 1 << 12

extension DeviceError {
  static func absent(_ reason: String) -> DeviceError {
    DeviceError(.unavailable, device: "vulkan", place: "opening", reason: reason)
  }
}

/// Returns the string in a zero-terminated array of fixed size.
func text<Characters>(_ characters: Characters) -> String {
  withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// Calls `body` with C strings that are valid during the call.
func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
  let bytes = strings.flatMap { Array($0.utf8CString) }
  return bytes.withUnsafeBufferPointer { bytes in
    var pointers: [UnsafePointer<CChar>?] = []
    var offset = 0
    for string in strings {
      pointers.append(bytes.baseAddress.map { $0 + offset })
      offset += string.utf8.count + 1
    }
    return pointers.withUnsafeBufferPointer(body)
  }
}
