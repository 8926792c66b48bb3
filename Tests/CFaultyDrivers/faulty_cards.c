#include "faulty_cards.h"

#include <string.h>

void faulty_describe(VkPhysicalDeviceProperties2 *all, FaultyCard card) {
  if (card == FaultyCardAsItIs) return;
  VkPhysicalDeviceProperties *properties = &all->properties;
  int isDiscrete = card == FaultyCardDiscrete;
  properties->deviceType = isDiscrete ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  properties->vendorID = isDiscrete ? 0x10DE : 0x8086;
  if (card != FaultyCardSmall) return;
  // The minimum limits of Vulkan 1.1.
  properties->limits.maxTexelBufferElements = 65536;
  properties->limits.maxStorageBufferRange = 1 << 27;
  properties->limits.maxComputeWorkGroupCount[0] = 65535;
  properties->limits.maxComputeWorkGroupCount[1] = 65535;
  properties->limits.maxComputeWorkGroupCount[2] = 65535;
  for (VkBaseOutStructure *next = all->pNext; next != NULL; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
      VkPhysicalDeviceSubgroupProperties *subgroup = (void *)next;
      subgroup->subgroupSize = 1;
      subgroup->supportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT;
    }
}

void faulty_renew(VkPhysicalDeviceProperties2 *all, unsigned versions) {
  all->properties.driverVersion += versions;
  for (VkBaseOutStructure *next = all->pNext; next != NULL && versions != 0; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)
      strncat(((VkPhysicalDeviceDriverProperties *)next)->driverInfo, "+", 1);
}

/// Reports local memory that the host cannot access, and some host memory that the card can access.
void faulty_describe_memory(VkPhysicalDeviceMemoryProperties2 *all, FaultyCard card, unsigned long byteCount) {
  VkPhysicalDeviceMemoryProperties *memory = &all->memoryProperties;
  if (byteCount != 0) memory->memoryHeaps[0].size = byteCount;
  if (card != FaultyCardDiscrete) return;
  memory->memoryTypeCount = 2;
  memory->memoryHeapCount = 2;
  memory->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
  memory->memoryHeaps[1] = (VkMemoryHeap){.size = 1ul << 30, .flags = 0};
  memory->memoryTypes[0] = (VkMemoryType){.propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, .heapIndex = 0};
  memory->memoryTypes[1] = (VkMemoryType){
      .propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, .heapIndex = 1};
}

void faulty_allow_memory(VkMemoryRequirements *requirements, FaultyCard card) {
  if (card == FaultyCardDiscrete) requirements->memoryTypeBits = 3;
}

void faulty_real_memory_type(uint32_t *index, FaultyCard card) {
  if (card == FaultyCardDiscrete) *index = 0;
}

void faulty_answer(
    cl_device_info question, size_t size, void *answer, size_t *written, FaultyCard card, unsigned long byteCount) {
  if (answer == NULL) return;
  if (byteCount != 0 && (question == CL_DEVICE_GLOBAL_MEM_SIZE || question == CL_DEVICE_MAX_MEM_ALLOC_SIZE)) {
    *(cl_ulong *)answer = byteCount;
    return;
  }
  if (card == FaultyCardAsItIs) return;
  switch (question) {
    case CL_DEVICE_TYPE: *(cl_device_type *)answer = CL_DEVICE_TYPE_GPU; break;
    case CL_DEVICE_HOST_UNIFIED_MEMORY: *(cl_bool *)answer = card != FaultyCardDiscrete; break;
    case CL_DEVICE_EXTENSIONS:
      memset(answer, 0, size);
      if (written != NULL) *written = 1;
      break;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      if (card == FaultyCardSmall) *(size_t *)answer = 16;
      break;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      if (card == FaultyCardSmall) *(cl_ulong *)answer = 128ul << 20;
      break;
    default: break;
  }
}
