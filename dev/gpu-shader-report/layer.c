// A Vulkan layer that writes what a driver's compiler made of each compute pipeline, and what the driver is told to do: a
// JSON document a line, to the file that KELVIN_SHADER_REPORT_LOG names; where it exists, to one with the number of the
// process behind its name. It asks drivers for VK_KHR_pipeline_executable_properties, which needs no GPU, and names the
// driver as one that Kelvin believes without self-tests (KernelTrust.swift), which a driver with nothing behind it would
// fail.
//
//   {"device": 1, "robustBufferAccess": true}
//   {"pipeline": 3, "function": "<hash>", "constants": {"0": 64}, "statistics": {"VGPRs": 48}, "assembly": "..."}
//   {"record": 1}                                                    a command buffer begins its recording 1
//   {"dispatch": 3, "in": 1, "grid": [16, 4, 2], "push": [64, 9]}    push constants as words
//   {"barrier": 1, "in": 1}
//   {"copy": 4096, "in": 1, "way": "up"}                             bytes; up, down, or within one kind of memory
//   {"submit": [1]}
//   {"wait": 1}                                                      a call that waits for fences
//   {"allocate": 1048576, "held": 4194304}                           bytes; held is memory of the card by now
//   {"refused": 1048576, "held": 4194304}
//
// KELVIN_SHADER_REPORT_MEMORY, in bytes, makes the driver appear to be a card that has this much memory of its own, which
// the host cannot address if the driver has one type of memory only; allocations beyond it fail.
//
// The hash is FNV-1a of the module's words from its first function on, since what is declared before it may be edited.
#include "layer.h"

Layer judge = {.lock = PTHREAD_MUTEX_INITIALIZER};

void put(Slot *slots, uint64_t handle, uint64_t value) {
  for (size_t i = 0, at = handle * 0x9e3779b97f4a7c15u >> 50; i < slotLimit; i++, at = (at + 1) % slotLimit) {
    if (slots[at].handle && slots[at].handle != handle) continue;
    slots[at] = (Slot){handle, value};
    return;
  }
  fprintf(stderr, "gpu-shader-report: more than %d objects\n", slotLimit);
  abort();
}

uint64_t get(const Slot *slots, uint64_t handle) {
  for (size_t i = 0, at = handle * 0x9e3779b97f4a7c15u >> 50; i < slotLimit; i++, at = (at + 1) % slotLimit) {
    if (slots[at].handle == handle) return slots[at].value;
    if (!slots[at].handle) break;
  }
  return 0;
}

static uint64_t hashFunctions(const uint32_t *words, size_t count) {
  enum { headerWords = 5, opFunction = 54 };
  size_t at = headerWords;
  while (at < count && (words[at] & 0xffff) != opFunction && words[at] >> 16) at += words[at] >> 16;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t *byte = (const uint8_t *)(words + at); byte < (const uint8_t *)(words + count); byte++)
    hash = (hash ^ *byte) * 0x100000001b3u;
  return hash;
}

static void writeText(const char *text, size_t count) {
  fputc('"', judge.log);
  for (size_t i = 0; i < count && text[i]; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') fputc('\\', judge.log);
    if (c == '\n') fputs("\\n", judge.log);
    else if (c < 0x20 || c > 0x7e) fputc(' ', judge.log);
    else fputc(c, judge.log);
  }
  fputc('"', judge.log);
}

static void writeStatistics(VkDevice device, VkPipelineExecutableInfoKHR *executable) {
  uint32_t count = 0;
  judge.statistics(device, executable, &count, NULL);
  VkPipelineExecutableStatisticKHR *rows = calloc(count, sizeof *rows);
  for (uint32_t i = 0; i < count; i++) rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  judge.statistics(device, executable, &count, rows);
  fputs(", \"statistics\": {", judge.log);
  for (uint32_t i = 0; i < count; i++) {
    if (i) fputs(", ", judge.log);
    writeText(rows[i].name, sizeof rows[i].name);
    switch (rows[i].format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      fprintf(judge.log, ": %s", rows[i].value.b32 ? "true" : "false");
      break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: fprintf(judge.log, ": %" PRIi64, rows[i].value.i64); break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: fprintf(judge.log, ": %" PRIu64, rows[i].value.u64); break;
    default: fprintf(judge.log, ": %g", rows[i].value.f64);
    }
  }
  fputc('}', judge.log);
  free(rows);
}

// The last representation is the one nearest to the machine.
static void writeAssembly(VkDevice device, VkPipelineExecutableInfoKHR *executable) {
  uint32_t count = 0;
  judge.representations(device, executable, &count, NULL);
  VkPipelineExecutableInternalRepresentationKHR *rows = calloc(count, sizeof *rows);
  for (uint32_t i = 0; i < count; i++)
    rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
  judge.representations(device, executable, &count, rows);
  for (uint32_t i = 0; i < count; i++) rows[i].pData = malloc(rows[i].dataSize);
  judge.representations(device, executable, &count, rows);
  if (count > 0 && rows[count - 1].isText) {
    fputs(", \"assembly\": ", judge.log);
    writeText(rows[count - 1].pData, rows[count - 1].dataSize);
  }
  for (uint32_t i = 0; i < count; i++) free(rows[i].pData);
  free(rows);
}

static void writePipeline(VkDevice device, const VkComputePipelineCreateInfo *information, VkPipeline pipeline) {
  unsigned number = ++judge.pipelineCount;
  put(judge.pipelines, (uint64_t)pipeline, number);
  fprintf(
      judge.log, "{\"pipeline\": %u, \"function\": \"%016" PRIx64 "\", \"constants\": {", number,
      get(judge.modules, (uint64_t)information->stage.module));
  const VkSpecializationInfo *constants = information->stage.pSpecializationInfo;
  for (uint32_t i = 0; constants && i < constants->mapEntryCount; i++) {
    uint32_t value;
    memcpy(&value, (const char *)constants->pData + constants->pMapEntries[i].offset, sizeof value);
    fprintf(judge.log, "%s\"%u\": %u", i ? ", " : "", constants->pMapEntries[i].constantID, value);
  }
  fputc('}', judge.log);
  if (judge.statistics && judge.representations) {
    VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, NULL, pipeline, 0};
    writeStatistics(device, &executable);
    writeAssembly(device, &executable);
  }
  fputs("}\n", judge.log);
  fflush(judge.log);
}

static VKAPI_ATTR VkResult VKAPI_CALL createModule(
    VkDevice device, const VkShaderModuleCreateInfo *information, const VkAllocationCallbacks *allocator,
    VkShaderModule *module) {
  VkResult result = judge.createModule(device, information, allocator, module);
  if (result == VK_SUCCESS) {
    pthread_mutex_lock(&judge.lock);
    put(judge.modules, (uint64_t)*module, hashFunctions(information->pCode, information->codeSize / 4));
    pthread_mutex_unlock(&judge.lock);
  }
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL createPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *information,
    const VkAllocationCallbacks *allocator, VkPipeline *pipelines) {
  VkComputePipelineCreateInfo *captured = malloc(count * sizeof *captured);
  memcpy(captured, information, count * sizeof *captured);
  if (judge.statistics)
    for (uint32_t i = 0; i < count; i++) captured[i].flags |= CAPTURES;
  VkResult result = judge.createPipelines(device, cache, count, captured, allocator, pipelines);
  pthread_mutex_lock(&judge.lock);
  for (uint32_t i = 0; i < count; i++)
    if (pipelines[i]) writePipeline(device, &information[i], pipelines[i]);
  pthread_mutex_unlock(&judge.lock);
  free(captured);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL createInstance(
    const VkInstanceCreateInfo *information, const VkAllocationCallbacks *allocator, VkInstance *instance) {
  VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)information->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerInstanceCreateInfo *)link->pNext;
  judge.nextInstance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)judge.nextInstance(NULL, "vkCreateInstance");
  VkResult result = create(information, allocator, instance);
  if (result != VK_SUCCESS) return result;
#define NEXT(field, function) judge.field = (PFN_##function)judge.nextInstance(*instance, #function)
  NEXT(describe, vkGetPhysicalDeviceProperties2);
  NEXT(describeBriefly, vkGetPhysicalDeviceProperties);
  NEXT(describeMemory, vkGetPhysicalDeviceMemoryProperties2);
#undef NEXT
  const char *limit = getenv("KELVIN_SHADER_REPORT_MEMORY");
  judge.limit = limit ? strtoull(limit, NULL, 10) : 0;
  return result;
}

static VKAPI_ATTR void VKAPI_CALL describeBriefly(VkPhysicalDevice physical, VkPhysicalDeviceProperties *properties) {
  judge.describeBriefly(physical, properties);
  if (judge.limit) properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

static VKAPI_ATTR void VKAPI_CALL describe(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *properties) {
  judge.describe(physical, properties);
  if (judge.limit) properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  for (VkBaseOutStructure *next = properties->pNext; next; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
      VkPhysicalDeviceDriverProperties *driver = (VkPhysicalDeviceDriverProperties *)next;
      strcpy(driver->driverName, "llvmpipe");
      strcpy(driver->driverInfo, "Mesa 22.3.6 (LLVM 15.0.6)");
    }
}

static FILE *openLog(const char *path) {
  if (!path) return stderr;
  FILE *log = fopen(path, "wx");
  if (log || errno != EEXIST) return log;
  char own[4096];
  snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
  return fopen(own, "w");
}

static VKAPI_ATTR VkResult VKAPI_CALL createDevice(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *information, const VkAllocationCallbacks *allocator,
    VkDevice *device) {
  VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)information->pNext;
  while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO)
    link = (VkLayerDeviceCreateInfo *)link->pNext;
  PFN_vkGetInstanceProcAddr nextInstance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  judge.nextDevice = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  PFN_vkCreateDevice create = (PFN_vkCreateDevice)nextInstance(NULL, "vkCreateDevice");

  const char *name = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, (void *)information->pNext, VK_TRUE};
  VkDeviceCreateInfo extended = *information;
  const char **names = malloc((extended.enabledExtensionCount + 1) * sizeof *names);
  if (extended.enabledExtensionCount)
    memcpy(names, information->ppEnabledExtensionNames, extended.enabledExtensionCount * sizeof *names);
  names[extended.enabledExtensionCount++] = name;
  extended.ppEnabledExtensionNames = names;
  extended.pNext = &feature;
  VkResult result = create(physical, &extended, allocator, device);
  int isCapturing = result == VK_SUCCESS;
  if (!isCapturing) result = create(physical, information, allocator, device);
  free(names);
  if (result != VK_SUCCESS) return result;

#define NEXT(field, function) judge.field = (PFN_##function)judge.nextDevice(*device, #function)
  NEXT(createModule, vkCreateShaderModule);
  NEXT(createPipelines, vkCreateComputePipelines);
  NEXT(bindPipeline, vkCmdBindPipeline);
  NEXT(dispatch, vkCmdDispatch);
  NEXT(dispatchBase, vkCmdDispatchBase);
  NEXT(begin, vkBeginCommandBuffer);
  NEXT(push, vkCmdPushConstants);
  NEXT(barrier, vkCmdPipelineBarrier);
  NEXT(copy, vkCmdCopyBuffer);
  NEXT(submit, vkQueueSubmit);
  NEXT(wait, vkWaitForFences);
  NEXT(allocate, vkAllocateMemory);
  NEXT(free, vkFreeMemory);
  NEXT(bindMemory, vkBindBufferMemory);
  NEXT(requirements, vkGetBufferMemoryRequirements);
  if (isCapturing) {
    NEXT(statistics, vkGetPipelineExecutableStatisticsKHR);
    NEXT(representations, vkGetPipelineExecutableInternalRepresentationsKHR);
  }
#undef NEXT
  if (!judge.log) judge.log = openLog(getenv("KELVIN_SHADER_REPORT_LOG"));
  if (!judge.log) {
    perror("gpu-shader-report");
    abort();
  }
  VkPhysicalDeviceMemoryProperties2 memory = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, NULL, {0}};
  describeMemory(physical, &memory);
  judge.memory = memory.memoryProperties;
  const VkPhysicalDeviceFeatures *features = information->pEnabledFeatures;
  for (const VkBaseInStructure *next = information->pNext; next && !features; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
      features = &((const VkPhysicalDeviceFeatures2 *)next)->features;
  WRITE(
      "{\"device\": %u, \"robustBufferAccess\": %s}\n", ++judge.deviceCount,
      features && features->robustBufferAccess ? "true" : "false");
  return result;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name) {
  static const struct {
    const char *name;
    PFN_vkVoidFunction function;
  } own[] = {
      {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)vkGetDeviceProcAddr},
      {"vkCreateShaderModule", (PFN_vkVoidFunction)createModule},
      {"vkCreateComputePipelines", (PFN_vkVoidFunction)createPipelines},
      {"vkCmdBindPipeline", (PFN_vkVoidFunction)bindPipeline},
      {"vkCmdDispatch", (PFN_vkVoidFunction)dispatch},
      {"vkCmdDispatchBase", (PFN_vkVoidFunction)dispatchBase},
      {"vkBeginCommandBuffer", (PFN_vkVoidFunction)begin},
      {"vkCmdPushConstants", (PFN_vkVoidFunction)push},
      {"vkCmdPipelineBarrier", (PFN_vkVoidFunction)barrier},
      {"vkCmdCopyBuffer", (PFN_vkVoidFunction)copy},
      {"vkQueueSubmit", (PFN_vkVoidFunction)submit},
      {"vkWaitForFences", (PFN_vkVoidFunction)waitForFences},
      {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
      {"vkFreeMemory", (PFN_vkVoidFunction)freeMemory},
      {"vkBindBufferMemory", (PFN_vkVoidFunction)bindMemory},
      {"vkGetBufferMemoryRequirements", (PFN_vkVoidFunction)requirements},
  };
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (!strcmp(own[i].name, name)) return own[i].function;
  return device ? judge.nextDevice(device, name) : NULL;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
  if (!strcmp(name, "vkCreateInstance")) return (PFN_vkVoidFunction)createInstance;
  if (!strcmp(name, "vkCreateDevice")) return (PFN_vkVoidFunction)createDevice;
  if (!strcmp(name, "vkGetPhysicalDeviceProperties")) return (PFN_vkVoidFunction)describeBriefly;
  if (!strcmp(name, "vkGetPhysicalDeviceProperties2")) return (PFN_vkVoidFunction)describe;
  if (!strcmp(name, "vkGetPhysicalDeviceMemoryProperties")) return (PFN_vkVoidFunction)describeMemoryBriefly;
  if (!strcmp(name, "vkGetPhysicalDeviceMemoryProperties2")) return (PFN_vkVoidFunction)describeMemory;
  PFN_vkVoidFunction own = vkGetDeviceProcAddr(NULL, name);
  if (own) return own;
  return instance ? judge.nextInstance(instance, name) : NULL;
}
