// The state of the layer of layer.c, and the functions that commands.c puts in the place of the driver's.
#pragma once
#define VK_NO_PROTOTYPES 1
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))
#define CAPTURES \
  (VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR)

enum { slotLimit = 1 << 14, pushLimit = 64 };

typedef struct {
  uint64_t handle, value;
} Slot;

// The state of a command buffer since it began.
typedef struct {
  unsigned number, pushCount;
  uint64_t pipeline;
  int32_t push[pushLimit];
} Recording;

// One process opens one device here; handles of what is destroyed may come again and then replace the older.
typedef struct {
  pthread_mutex_t lock;
  FILE *log;
  unsigned deviceCount, pipelineCount, recordCount;
  // Buffers: 1 for memory of the host, 2 for the card's. Memories: bytes of the card's, 0 for the host's.
  Slot modules[slotLimit], pipelines[slotLimit], recordings[slotLimit], buffers[slotLimit], memories[slotLimit];
  uint64_t held;
  // The bytes of the imitated card's memory, 0 for none, and whether its types of memory are imitated.
  uint64_t limit;
  int isSplit;
  VkPhysicalDeviceMemoryProperties memory;
  PFN_vkGetInstanceProcAddr nextInstance;
  PFN_vkGetPhysicalDeviceProperties describeBriefly;
  PFN_vkGetPhysicalDeviceProperties2 describe;
  PFN_vkGetPhysicalDeviceMemoryProperties2 describeMemory;
  PFN_vkGetDeviceProcAddr nextDevice;
  PFN_vkCreateShaderModule createModule;
  PFN_vkCreateComputePipelines createPipelines;
  PFN_vkCmdBindPipeline bindPipeline;
  PFN_vkCmdDispatch dispatch;
  PFN_vkCmdDispatchBase dispatchBase;
  PFN_vkBeginCommandBuffer begin;
  PFN_vkCmdPushConstants push;
  PFN_vkCmdPipelineBarrier barrier;
  PFN_vkCmdCopyBuffer copy;
  PFN_vkQueueSubmit submit;
  PFN_vkWaitForFences wait;
  PFN_vkAllocateMemory allocate;
  PFN_vkFreeMemory free;
  PFN_vkBindBufferMemory bindMemory;
  PFN_vkGetBufferMemoryRequirements requirements;
  PFN_vkGetPipelineExecutableStatisticsKHR statistics;
  PFN_vkGetPipelineExecutableInternalRepresentationsKHR representations;
} Layer;

extern Layer judge;


void put(Slot *slots, uint64_t handle, uint64_t value);
uint64_t get(const Slot *slots, uint64_t handle);

// Writes a line; the arguments are those of printf.
#define WRITE(...) \
  do { \
    pthread_mutex_lock(&judge.lock); \
    fprintf(judge.log, __VA_ARGS__); \
    fflush(judge.log); \
    pthread_mutex_unlock(&judge.lock); \
  } while (0)

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *information);
VKAPI_ATTR void VKAPI_CALL bindPipeline(
    VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline);
VKAPI_ATTR void VKAPI_CALL push(
    VkCommandBuffer commands, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset, uint32_t size,
    const void *values);
VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z);
VKAPI_ATTR void VKAPI_CALL dispatchBase(
    VkCommandBuffer commands, uint32_t baseX, uint32_t baseY, uint32_t baseZ, uint32_t x, uint32_t y, uint32_t z);
VKAPI_ATTR void VKAPI_CALL barrier(
    VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after, VkDependencyFlags flags,
    uint32_t count, const VkMemoryBarrier *barriers, uint32_t bufferCount, const VkBufferMemoryBarrier *buffers,
    uint32_t imageCount, const VkImageMemoryBarrier *images);
VKAPI_ATTR void VKAPI_CALL copy(
    VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions);
VKAPI_ATTR VkResult VKAPI_CALL submit(
    VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence);
VKAPI_ATTR VkResult VKAPI_CALL waitForFences(
    VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t nanoseconds);
VKAPI_ATTR VkResult VKAPI_CALL allocate(
    VkDevice device, const VkMemoryAllocateInfo *information, const VkAllocationCallbacks *allocator,
    VkDeviceMemory *memory);
VKAPI_ATTR void VKAPI_CALL freeMemory(
    VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *allocator);
VKAPI_ATTR VkResult VKAPI_CALL bindMemory(
    VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset);
VKAPI_ATTR void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *needed);
VKAPI_ATTR void VKAPI_CALL describeMemory(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *properties);
VKAPI_ATTR void VKAPI_CALL describeMemoryBriefly(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *properties);
