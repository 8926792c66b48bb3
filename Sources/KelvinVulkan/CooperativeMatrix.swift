import CKelvinSupport

/// The size of matrices that the invocations of a subgroup multiply together (`VK_KHR_cooperative_matrix`). Operands
/// are float16, `[rows, depth]` and `[depth, columns]`; sums are float32.
package struct CooperativeMatrix: Hashable, Sendable {
  package let rows: Int
  package let columns: Int
  package let depth: Int

  package init(rows: Int, columns: Int, depth: Int) {
    (self.rows, self.columns, self.depth) = (rows, columns, depth)
  }

  /// The extensions that a device must be opened with for shaders that use cooperative matrices.
  static let extensionNames = [
    VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
  ]

  /// Creates the largest size that a device supports and that staged tiles consist of. Returns nil if there is none.
  /// The device has the features that these shaders need.
  init?(of physical: VkPhysicalDevice, _ vk: KelvinVulkan) {
    guard let list = vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR else { return nil }
    var count: UInt32 = 0
    guard list(physical, &count, nil) == VK_SUCCESS else { return nil }
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
    // Matrices of staged tiles: within 32 positions, a tile of packed weights, and a slab.
    let fitting = usable.filter {
      [8, 16, 32].contains($0.MSize) && [8, 16].contains($0.NSize) && [8, 16, 32].contains($0.KSize)
    }
    guard let best = fitting.max(by: { size($0) < size($1) }) else { return nil }
    (rows, columns, depth) = (Int(best.MSize), Int(best.NSize), Int(best.KSize))
  }
}

/// The features of a device that shaders with arithmetic in float16, and with cooperative matrices, need.
struct HalfArithmeticFeatures {
  private var halves = VkPhysicalDeviceShaderFloat16Int8Features()
  private var matrices = VkPhysicalDeviceCooperativeMatrixFeaturesKHR()
  private var model = VkPhysicalDeviceVulkanMemoryModelFeatures()

  static let extensionName = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME

  private init() {
    halves.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES
    matrices.sType = VkStructureType(1_000_506_000)
    model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES
  }

  /// The features, all enabled.
  static var enabled: HalfArithmeticFeatures {
    var features = HalfArithmeticFeatures()
    features.halves.shaderFloat16 = VkBool32(VK_TRUE)
    features.matrices.cooperativeMatrix = VkBool32(VK_TRUE)
    features.model.vulkanMemoryModel = VkBool32(VK_TRUE)
    return features
  }

  /// Creates the features that a device offers.
  init(of physical: VkPhysicalDevice, _ vk: KelvinVulkan, extensions: Set<String>) {
    self.init()
    guard extensions.contains(Self.extensionName) else { return }
    withChain(hasMatrices: extensions.isSuperset(of: CooperativeMatrix.extensionNames)) { chain in
      var features = VkPhysicalDeviceFeatures2()
      features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
      features.pNext = chain
      vk.vkGetPhysicalDeviceFeatures2!(physical, &features)
    }
  }

  var multipliesHalves: Bool { halves.shaderFloat16 == VK_TRUE }
  var multipliesMatrices: Bool {
    [halves.shaderFloat16, matrices.cooperativeMatrix, model.vulkanMemoryModel].allSatisfy { $0 == VK_TRUE }
  }

  /// Passes the features to `body` as structures each of which points to the next.
  mutating func withChain<Result>(hasMatrices: Bool, _ body: (UnsafeMutableRawPointer) -> Result) -> Result {
    withUnsafeMutablePointer(to: &halves) { halves in
      withUnsafeMutablePointer(to: &matrices) { matrices in
        withUnsafeMutablePointer(to: &model) { model in
          halves.pointee.pNext = hasMatrices ? UnsafeMutableRawPointer(matrices) : nil
          matrices.pointee.pNext = UnsafeMutableRawPointer(model)
          model.pointee.pNext = nil
          return body(UnsafeMutableRawPointer(halves))
        }
      }
    }
  }
}
