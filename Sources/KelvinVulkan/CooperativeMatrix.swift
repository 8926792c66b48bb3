import CKelvinSupport

/// The size of matrices that the invocations of a subgroup multiply together (`VK_KHR_cooperative_matrix`). Operands
/// are float16, `[rows, depth]` and `[depth, columns]`; sums are float32.
struct CooperativeMatrix: Hashable, Sendable {
  let rows: Int
  let columns: Int
  let depth: Int

  /// The extensions that a device must be opened with for shaders that use cooperative matrices.
  static let extensionNames = [
    VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
    VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
  ]

  /// Creates the largest size that a device supports. Returns nil if the device supports none, or lacks another feature
  /// that these shaders need.
  init?(of physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>) {
    guard extensions.isSuperset(of: Self.extensionNames),
      let list = vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
    else { return nil }
    var offered = CooperativeMatrixFeatures()
    offered.withChain { chain in
      var features = VkPhysicalDeviceFeatures2()
      features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
      features.pNext = chain
      vk.vkGetPhysicalDeviceFeatures2!(physical, &features)
    }
    var count: UInt32 = 0
    guard offered.areAll, list(physical, &count, nil) == VK_SUCCESS else { return nil }
    var element = VkCooperativeMatrixPropertiesKHR()
    element.sType = VkStructureType(1_000_506_001)
    var shapes = [VkCooperativeMatrixPropertiesKHR](repeating: element, count: Int(count))
    guard list(physical, &count, &shapes).rawValue >= 0 else { return nil }
    let usable = shapes.prefix(Int(count)).filter {
      $0.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && $0.BType == VK_COMPONENT_TYPE_FLOAT16_KHR
        && $0.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && $0.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR
        && $0.scope == VK_SCOPE_SUBGROUP_KHR && $0.saturatingAccumulation == VK_FALSE
    }
    func size(_ shape: VkCooperativeMatrixPropertiesKHR) -> UInt64 {
      UInt64(shape.MSize) * UInt64(shape.NSize) * UInt64(shape.KSize)
    }
    // Rows of tensors are aligned to this many elements.
    let aligned = usable.filter { [$0.MSize, $0.NSize, $0.KSize].allSatisfy { $0 > 0 && $0 % 8 == 0 && $0 <= 64 } }
    guard let best = aligned.max(by: { size($0) < size($1) }) else { return nil }
    (rows, columns, depth) = (Int(best.MSize), Int(best.NSize), Int(best.KSize))
  }
}

/// The features of a device that shaders with cooperative matrices need.
struct CooperativeMatrixFeatures {
  private var matrices = VkPhysicalDeviceCooperativeMatrixFeaturesKHR()
  private var model = VkPhysicalDeviceVulkanMemoryModelFeatures()
  private var halves = VkPhysicalDeviceShaderFloat16Int8Features()

  init() {
    matrices.sType = VkStructureType(1_000_506_000)
    model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES
    halves.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES
  }

  /// The features, all enabled.
  static var enabled: CooperativeMatrixFeatures {
    var features = CooperativeMatrixFeatures()
    features.matrices.cooperativeMatrix = VkBool32(VK_TRUE)
    features.model.vulkanMemoryModel = VkBool32(VK_TRUE)
    features.halves.shaderFloat16 = VkBool32(VK_TRUE)
    return features
  }

  var areAll: Bool {
    [matrices.cooperativeMatrix, model.vulkanMemoryModel, halves.shaderFloat16].allSatisfy { $0 == VK_TRUE }
  }

  /// Passes the features to `body` as structures each of which points to the next.
  mutating func withChain<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
    withUnsafeMutablePointer(to: &matrices) { matrices in
      withUnsafeMutablePointer(to: &model) { model in
        withUnsafeMutablePointer(to: &halves) { halves in
          matrices.pointee.pNext = UnsafeMutableRawPointer(model)
          model.pointee.pNext = UnsafeMutableRawPointer(halves)
          halves.pointee.pNext = nil
          return body(UnsafeMutableRawPointer(matrices))
        }
      }
    }
  }
}
