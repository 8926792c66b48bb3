// The part of the layer of layer.c that logs command buffers, submissions and memory, and imitates a card.
#include "layer.h"

static Recording *recording(VkCommandBuffer commands) {
  pthread_mutex_lock(&judge.lock);
  Recording *found = (Recording *)(uintptr_t)get(judge.recordings, (uint64_t)(uintptr_t)commands);
  pthread_mutex_unlock(&judge.lock);
  return found;
}

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *information) {
  pthread_mutex_lock(&judge.lock);
  Recording *made = (Recording *)(uintptr_t)get(judge.recordings, (uint64_t)(uintptr_t)commands);
  if (!made) made = malloc(sizeof *made);
  *made = (Recording){.number = ++judge.recordCount};
  put(judge.recordings, (uint64_t)(uintptr_t)commands, (uint64_t)(uintptr_t)made);
  pthread_mutex_unlock(&judge.lock);
  WRITE("{\"record\": %u}\n", made->number);
  return judge.begin(commands, information);
}

VKAPI_ATTR void VKAPI_CALL bindPipeline(
    VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  Recording *into = recording(commands);
  pthread_mutex_lock(&judge.lock);
  into->pipeline = get(judge.pipelines, (uint64_t)pipeline);
  pthread_mutex_unlock(&judge.lock);
  judge.bindPipeline(commands, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL push(
    VkCommandBuffer commands, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset, uint32_t size,
    const void *values) {
  Recording *into = recording(commands);
  if (offset + size <= sizeof into->push) {
    memcpy((char *)into->push + offset, values, size);
    into->pushCount = (offset + size) / 4;
  }
  judge.push(commands, layout, stages, offset, size, values);
}

static void writeDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  Recording *of = recording(commands);
  pthread_mutex_lock(&judge.lock);
  fprintf(
      judge.log, "{\"dispatch\": %" PRIu64 ", \"in\": %u, \"grid\": [%u, %u, %u], \"push\": [", of->pipeline, of->number,
      x, y, z);
  for (unsigned i = 0; i < of->pushCount; i++) fprintf(judge.log, "%s%" PRIi32, i ? ", " : "", of->push[i]);
  fputs("]}\n", judge.log);
  fflush(judge.log);
  pthread_mutex_unlock(&judge.lock);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  writeDispatch(commands, x, y, z);
  judge.dispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL dispatchBase(
    VkCommandBuffer commands, uint32_t baseX, uint32_t baseY, uint32_t baseZ, uint32_t x, uint32_t y, uint32_t z) {
  writeDispatch(commands, x, y, z);
  judge.dispatchBase(commands, baseX, baseY, baseZ, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL barrier(
    VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after, VkDependencyFlags flags,
    uint32_t count, const VkMemoryBarrier *barriers, uint32_t bufferCount, const VkBufferMemoryBarrier *buffers,
    uint32_t imageCount, const VkImageMemoryBarrier *images) {
  unsigned number = recording(commands)->number;
  WRITE("{\"barrier\": 1, \"in\": %u}\n", number);
  judge.barrier(commands, before, after, flags, count, barriers, bufferCount, buffers, imageCount, images);
}

VKAPI_ATTR void VKAPI_CALL copy(
    VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) bytes += regions[i].size;
  pthread_mutex_lock(&judge.lock);
  uint64_t source = get(judge.buffers, (uint64_t)from), target = get(judge.buffers, (uint64_t)to);
  pthread_mutex_unlock(&judge.lock);
  unsigned number = recording(commands)->number;
  WRITE(
      "{\"copy\": %" PRIu64 ", \"in\": %u, \"way\": \"%s\"}\n", bytes, number,
      source < target ? "up" : source > target ? "down" : "within");
  judge.copy(commands, from, to, count, regions);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(
    VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence) {
  pthread_mutex_lock(&judge.lock);
  fputs("{\"submit\": [", judge.log);
  const char *separator = "";
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < batches[i].commandBufferCount; j++, separator = ", ") {
      uint64_t found = get(judge.recordings, (uint64_t)(uintptr_t)batches[i].pCommandBuffers[j]);
      fprintf(judge.log, "%s%u", separator, ((Recording *)(uintptr_t)found)->number);
    }
  fputs("]}\n", judge.log);
  fflush(judge.log);
  pthread_mutex_unlock(&judge.lock);
  return judge.submit(queue, count, batches, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL waitForFences(
    VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t nanoseconds) {
  WRITE("{\"wait\": %u}\n", count);
  return judge.wait(device, count, fences, all, nanoseconds);
}

static int isOfCard(uint32_t type) {
  return judge.memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(
    VkDevice device, const VkMemoryAllocateInfo *information, const VkAllocationCallbacks *allocator,
    VkDeviceMemory *memory) {
  uint64_t bytes = information->allocationSize;
  uint64_t ofCard = isOfCard(information->memoryTypeIndex) ? bytes : 0;
  if (judge.limit && ofCard && judge.held + ofCard > judge.limit) {
    WRITE("{\"refused\": %" PRIu64 ", \"held\": %" PRIu64 "}\n", bytes, judge.held);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  VkMemoryAllocateInfo actual = *information;
  if (judge.isSplit) actual.memoryTypeIndex = 0;
  VkResult result = judge.allocate(device, &actual, allocator, memory);
  if (result != VK_SUCCESS) return result;
  pthread_mutex_lock(&judge.lock);
  put(judge.memories, (uint64_t)*memory, ofCard);
  judge.held += ofCard;
  pthread_mutex_unlock(&judge.lock);
  WRITE("{\"allocate\": %" PRIu64 ", \"held\": %" PRIu64 "}\n", bytes, judge.held);
  return result;
}

VKAPI_ATTR void VKAPI_CALL freeMemory(
    VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator) {
  pthread_mutex_lock(&judge.lock);
  judge.held -= get(judge.memories, (uint64_t)memory);
  if (memory) put(judge.memories, (uint64_t)memory, 0);
  pthread_mutex_unlock(&judge.lock);
  judge.free(device, memory, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL bindMemory(
    VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  pthread_mutex_lock(&judge.lock);
  put(judge.buffers, (uint64_t)buffer, get(judge.memories, (uint64_t)memory) ? 2 : 1);
  pthread_mutex_unlock(&judge.lock);
  return judge.bindMemory(device, buffer, memory, offset);
}

VKAPI_ATTR void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *needed) {
  judge.requirements(device, buffer, needed);
  if (judge.isSplit) needed->memoryTypeBits = 3;
}

// Makes the types of memory those of the imitated card.
static void imitateMemory(VkPhysicalDeviceMemoryProperties *memory) {
  if (!judge.limit) return;
  judge.isSplit = memory->memoryTypeCount == 1;
  if (judge.isSplit) {
    memory->memoryTypeCount = memory->memoryHeapCount = 2;
    memory->memoryHeaps[1] = (VkMemoryHeap){.size = memory->memoryHeaps[0].size};
    memory->memoryTypes[1] = (VkMemoryType){
        memory->memoryTypes[0].propertyFlags & ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 1};
    memory->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  }
  for (uint32_t i = 0; i < memory->memoryHeapCount; i++)
    if (memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT && memory->memoryHeaps[i].size > judge.limit)
      memory->memoryHeaps[i].size = judge.limit;
}

VKAPI_ATTR void VKAPI_CALL describeMemory(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *properties) {
  judge.describeMemory(physical, properties);
  imitateMemory(&properties->memoryProperties);
  for (VkBaseOutStructure *next = properties->pNext; next && judge.limit; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
      VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (VkPhysicalDeviceMemoryBudgetPropertiesEXT *)next;
      if (judge.isSplit) budget->heapBudget[1] = budget->heapBudget[0];
      budget->heapBudget[0] = judge.limit;
      budget->heapUsage[0] = judge.held;
    }
}

VKAPI_ATTR void VKAPI_CALL describeMemoryBriefly(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *properties) {
  VkPhysicalDeviceMemoryProperties2 all = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, NULL, *properties};
  describeMemory(physical, &all);
  *properties = all.memoryProperties;
}
