// A Vulkan layer for measurements on a card. It counts what a program asks of the driver, and switches bounds checks of
// buffers. Unlike the layer of dev/gpu-shader-report it changes neither the driver's name nor how pipelines are compiled.
//
//   KELVIN_CARD_ROBUST   1 or 0: robustBufferAccess of every device
//   KELVIN_CARD_LOG      the file that gets one JSON document a line, appended by every process:
//
//   {"robust": true}                                      a device was created
//   {"submit": 56, "barriers": 61, "copies": 2, "bytes": 4000}
//                                                         dispatches and the rest of the submitted command buffers
//   {"wait": 0.0012}                                      seconds in a call that waits for fences
//   {"ticks": [1200, 80], "period": 1e-9, "constants": [[64, 0, 2, 2], [64]]}
//                                                         differences of the timestamps that were read, seconds of a tick,
//                                                         specialization constants of the first dispatches before them
#define VK_NO_PROTOTYPES 1
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))
#define LOG(...)                           \
  do {                                     \
    pthread_mutex_lock(&lock);             \
    if (log) fprintf(log, __VA_ARGS__);    \
    pthread_mutex_unlock(&lock);           \
  } while (0)
#define LIMIT (1 << 14)
#define CONSTANTS 16
#define SHOWN 8

typedef struct {
  uint64_t handle;
  int count;
  uint32_t values[CONSTANTS];
} Pipeline;

// The counts of a command buffer, and its first pipelines.
typedef struct {
  uint64_t handle, bound, queries;
  unsigned dispatches, barriers, copies, shown;
  uint64_t bytes;
  uint64_t pipelines[SHOWN];
} Recording;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log;
static Pipeline pipelines[LIMIT];
static Recording recordings[LIMIT];
static double period;
static PFN_vkGetInstanceProcAddr nextInstance;
static PFN_vkGetDeviceProcAddr nextDevice;
static PFN_vkGetPhysicalDeviceProperties describe;
#define FUNCTIONS(X)                                                                                           \
  X(vkCreateComputePipelines) X(vkBeginCommandBuffer) X(vkCmdBindPipeline) X(vkCmdDispatch) X(vkCmdDispatchBase) \
  X(vkCmdPipelineBarrier) X(vkCmdCopyBuffer) X(vkCmdWriteTimestamp) X(vkQueueSubmit) X(vkWaitForFences)          \
  X(vkGetQueryPoolResults)
#define DECLARE(name) static PFN_##name next_##name;
FUNCTIONS(DECLARE)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

// Entries are found by open addressing; both structures begin with their handle.
static void *entry(void *table, size_t size, uint64_t handle) {
  for (size_t count = 0, at = handle * 0x9e3779b97f4a7c15u >> 50; count < LIMIT; count++, at = (at + 1) % LIMIT) {
    uint64_t *found = (uint64_t *)((char *)table + at * size);
    if (!*found) *found = handle;
    if (*found == handle) return found;
  }
  fprintf(stderr, "card_layer: more than %d objects\n", LIMIT);
  abort();
}

static Recording *recording(VkCommandBuffer commands) {
  return entry(recordings, sizeof *recordings, (uint64_t)(uintptr_t)commands);
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *information,
    const VkAllocationCallbacks *allocator, VkPipeline *made) {
  VkResult result = next_vkCreateComputePipelines(device, cache, count, information, allocator, made);
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; i++) {
    const VkSpecializationInfo *constants = information[i].stage.pSpecializationInfo;
    if (!made[i]) continue;
    Pipeline *pipeline = entry(pipelines, sizeof *pipelines, (uint64_t)made[i]);
    pipeline->count = 0;
    memset(pipeline->values, 0, sizeof pipeline->values);
    for (uint32_t j = 0; constants && j < constants->mapEntryCount; j++) {
      const VkSpecializationMapEntry *at = &constants->pMapEntries[j];
      if (at->constantID >= CONSTANTS) continue;
      memcpy(&pipeline->values[at->constantID], (const char *)constants->pData + at->offset, sizeof(uint32_t));
      if ((int)at->constantID >= pipeline->count) pipeline->count = at->constantID + 1;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_vkBeginCommandBuffer(
    VkCommandBuffer commands, const VkCommandBufferBeginInfo *information) {
  pthread_mutex_lock(&lock);
  Recording *record = recording(commands);
  *record = (Recording){.handle = record->handle};
  pthread_mutex_unlock(&lock);
  return next_vkBeginCommandBuffer(commands, information);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdBindPipeline(
    VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
  pthread_mutex_lock(&lock);
  recording(commands)->bound = (uint64_t)pipeline;
  pthread_mutex_unlock(&lock);
  next_vkCmdBindPipeline(commands, point, pipeline);
}

static void dispatched(VkCommandBuffer commands) {
  pthread_mutex_lock(&lock);
  Recording *record = recording(commands);
  record->dispatches++;
  if (record->shown < SHOWN) record->pipelines[record->shown++] = record->bound;
  pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  dispatched(commands);
  next_vkCmdDispatch(commands, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdDispatchBase(
    VkCommandBuffer commands, uint32_t baseX, uint32_t baseY, uint32_t baseZ, uint32_t x, uint32_t y, uint32_t z) {
  dispatched(commands);
  next_vkCmdDispatchBase(commands, baseX, baseY, baseZ, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdPipelineBarrier(
    VkCommandBuffer commands, VkPipelineStageFlags source, VkPipelineStageFlags target, VkDependencyFlags flags,
    uint32_t count, const VkMemoryBarrier *barriers, uint32_t bufferCount, const VkBufferMemoryBarrier *buffers,
    uint32_t imageCount, const VkImageMemoryBarrier *images) {
  pthread_mutex_lock(&lock);
  recording(commands)->barriers++;
  pthread_mutex_unlock(&lock);
  next_vkCmdPipelineBarrier(
      commands, source, target, flags, count, barriers, bufferCount, buffers, imageCount, images);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdCopyBuffer(
    VkCommandBuffer commands, VkBuffer source, VkBuffer target, uint32_t count, const VkBufferCopy *regions) {
  pthread_mutex_lock(&lock);
  Recording *record = recording(commands);
  record->copies++;
  for (uint32_t i = 0; i < count; i++) record->bytes += regions[i].size;
  pthread_mutex_unlock(&lock);
  next_vkCmdCopyBuffer(commands, source, target, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL layer_vkCmdWriteTimestamp(
    VkCommandBuffer commands, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t query) {
  pthread_mutex_lock(&lock);
  recording(commands)->queries = (uint64_t)pool;
  pthread_mutex_unlock(&lock);
  next_vkCmdWriteTimestamp(commands, stage, pool, query);
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueSubmit(
    VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence) {
  Recording sum = {0};
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < submits[i].commandBufferCount; j++) {
      const Recording *record = recording(submits[i].pCommandBuffers[j]);
      sum.dispatches += record->dispatches;
      sum.barriers += record->barriers;
      sum.copies += record->copies;
      sum.bytes += record->bytes;
    }
  pthread_mutex_unlock(&lock);
  LOG("{\"submit\": %u, \"barriers\": %u, \"copies\": %u, \"bytes\": %llu}\n", sum.dispatches, sum.barriers, sum.copies,
      (unsigned long long)sum.bytes);
  return next_vkQueueSubmit(queue, count, submits, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_vkWaitForFences(
    VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout) {
  double start = now();
  VkResult result = next_vkWaitForFences(device, count, fences, all, timeout);
  LOG("{\"wait\": %.7f}\n", now() - start);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetQueryPoolResults(
    VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t size, void *data, VkDeviceSize stride,
    VkQueryResultFlags flags) {
  VkResult result = next_vkGetQueryPoolResults(device, pool, first, count, size, data, stride, flags);
  if (result != VK_SUCCESS || count < 2 || !(flags & VK_QUERY_RESULT_64_BIT) || !log) return result;
  pthread_mutex_lock(&lock);
  fputs("{\"ticks\": [", log);
  for (uint32_t i = 0; i + 1 < count; i++) {
    uint64_t begin, end;
    memcpy(&begin, (const char *)data + i * stride, sizeof begin);
    memcpy(&end, (const char *)data + (i + 1) * stride, sizeof end);
    fprintf(log, "%s%llu", i ? ", " : "", (unsigned long long)(end - begin));
  }
  fprintf(log, "], \"period\": %g, \"constants\": [", period);
  for (int i = 0, written = 0; i < LIMIT; i++) {
    if (recordings[i].queries != (uint64_t)pool) continue;
    for (unsigned j = 0; j < recordings[i].shown; j++) {
      const Pipeline *pipeline = entry(pipelines, sizeof *pipelines, recordings[i].pipelines[j]);
      fputs(written++ ? ", [" : "[", log);
      for (int k = 0; k < pipeline->count; k++) fprintf(log, "%s%u", k ? ", " : "", pipeline->values[k]);
      fputc(']', log);
    }
  }
  fputs("]}\n", log);
  pthread_mutex_unlock(&lock);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL createInstance(
    const VkInstanceCreateInfo *information, const VkAllocationCallbacks *allocator, VkInstance *instance) {
  VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)information->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerInstanceCreateInfo *)link->pNext;
  nextInstance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)nextInstance(NULL, "vkCreateInstance");
  VkResult result = create(information, allocator, instance);
  if (result == VK_SUCCESS)
    describe = (PFN_vkGetPhysicalDeviceProperties)nextInstance(*instance, "vkGetPhysicalDeviceProperties");
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL createDevice(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *information, const VkAllocationCallbacks *allocator,
    VkDevice *device) {
  VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)information->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerDeviceCreateInfo *)link->pNext;
  PFN_vkGetInstanceProcAddr instanceFunctions = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  nextDevice = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;

  // The program's features, wherever it has them, are changed in place until the driver has read them.
  VkPhysicalDeviceFeatures none = {0}, *features = (VkPhysicalDeviceFeatures *)information->pEnabledFeatures;
  VkDeviceCreateInfo changed = *information;
  for (VkBaseOutStructure *next = (VkBaseOutStructure *)information->pNext; next && !features; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
      features = &((VkPhysicalDeviceFeatures2 *)next)->features;
  if (!features) changed.pEnabledFeatures = features = &none;
  VkBool32 asked = features->robustBufferAccess;
  const char *robust = getenv("KELVIN_CARD_ROBUST");
  if (robust) features->robustBufferAccess = *robust == '1';
  bool isRobust = features->robustBufferAccess;
  PFN_vkCreateDevice create = (PFN_vkCreateDevice)instanceFunctions(NULL, "vkCreateDevice");
  VkResult result = create(physical, &changed, allocator, device);
  features->robustBufferAccess = asked;
  if (result != VK_SUCCESS) return result;

#define FIND(name) next_##name = (PFN_##name)nextDevice(*device, #name);
  FUNCTIONS(FIND)
  VkPhysicalDeviceProperties properties;
  describe(physical, &properties);
  period = 1e-9 * properties.limits.timestampPeriod;
  const char *path = getenv("KELVIN_CARD_LOG");
  if (path && !log) {
    log = fopen(path, "a");
    // Lines are written whole, because processes share the file.
    if (log) setvbuf(log, NULL, _IOLBF, 1 << 16);
    else perror("card_layer: KELVIN_CARD_LOG");
  }
  LOG("{\"robust\": %s}\n", isRobust ? "true" : "false");
  return result;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name) {
  if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)vkGetDeviceProcAddr;
#define OWN(function) \
  if (!strcmp(name, #function)) return (PFN_vkVoidFunction)layer_##function;
  FUNCTIONS(OWN)
  return device ? nextDevice(device, name) : NULL;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
  if (!strcmp(name, "vkCreateInstance")) return (PFN_vkVoidFunction)createInstance;
  if (!strcmp(name, "vkCreateDevice")) return (PFN_vkVoidFunction)createDevice;
  PFN_vkVoidFunction own = vkGetDeviceProcAddr(NULL, name);
  if (own) return own;
  return instance ? nextInstance(instance, name) : NULL;
}
