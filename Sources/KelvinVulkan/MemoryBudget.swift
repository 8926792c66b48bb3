import CKelvinSupport

/// The memory that a process may use, and that it uses, as the driver estimates them (`VK_EXT_memory_budget`).
struct MemoryBudget {
  static let extensionName = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME

  private var budget = VkPhysicalDeviceMemoryBudgetPropertiesEXT()

  /// Asks the driver, which must offer the extension.
  init(of physical: VkPhysicalDevice, _ vk: KelvinVulkan) {
    budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT
    withUnsafeMutablePointer(to: &budget) { budget in
      var properties = VkPhysicalDeviceMemoryProperties2()
      properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
      properties.pNext = UnsafeMutableRawPointer(budget)
      vk.vkGetPhysicalDeviceMemoryProperties2!(physical, &properties)
    }
  }

  /// Returns the bytes of a heap that the process can still allocate. The budget includes what the process already uses.
  func free(inHeap heap: Int) -> Int {
    func bytes<Heaps>(_ heaps: Heaps) -> Int {
      withUnsafeBytes(of: heaps) { Int(clamping: $0.bindMemory(to: VkDeviceSize.self)[heap]) }
    }
    return max(0, bytes(budget.heapBudget) - bytes(budget.heapUsage))
  }
}
