// Measures what a Vulkan device takes before it computes anything.
//
// Usage: card_floors DEVICE EMPTY.spv COUNT    DEVICE is its name as Vulkan has it, EMPTY.spv a shader that may do nothing for
//                                              a push constant of 0; COUNT dispatches are timed; prints one JSON object:
//
//   {"dispatch": S, "dispatchBarrier": S, "submit": S, "copies": [{"bytes": N, "way": "up", "mapped": S, "copied": S}, …]}
//
// `dispatch` is seconds for each of COUNT dispatches in one submission, `dispatchBarrier` with a barrier between any two,
// `submit` a submission without commands until its fence is seen. A copy goes between host memory and memory of the device:
// `copied` by vkCmdCopyBuffer with submission and wait, `mapped` by the processor where it can address the device's memory.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#define TRIALS 9
#define MOST (64u << 20)
#define CHECK(call) check(call, #call)

static void check(VkResult result, const char *call) {
  if (result == VK_SUCCESS) return;
  fprintf(stderr, "card_floors: VkResult %d of %s\n", result, call);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandBuffer commands;
static VkFence fence;

typedef struct {
  VkBuffer buffer;
  void *mapped;
} Memory;

static void choose(const char *name) {
  VkApplicationInfo about = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &about};
  VkInstance instance;
  CHECK(vkCreateInstance(&create, NULL, &instance));
  VkPhysicalDevice devices[16];
  uint32_t count = 16;
  VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices);
  if (result != VK_INCOMPLETE) check(result, "vkEnumeratePhysicalDevices");
  for (uint32_t index = 0; index < count && !physical; index++) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(devices[index], &properties);
    if (!strcmp(properties.deviceName, name)) physical = devices[index];
  }
  if (physical) return;
  fprintf(stderr, "card_floors: Vulkan has no device '%s' among its %u\n", name, count);
  exit(1);
}

static void open_device(void) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16, family = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) family++;
  float priority = 1;
  VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = family,
                                    .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queues};
  CHECK(vkCreateDevice(physical, &create, NULL, &device));
  vkGetDeviceQueue(device, family, 0, &queue);
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family,
                                  .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
  VkCommandPool commandPool;
  CHECK(vkCreateCommandPool(device, &pool, NULL, &commandPool));
  VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = commandPool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
  CHECK(vkAllocateCommandBuffers(device, &one, &commands));
  VkFenceCreateInfo unsignalled = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  CHECK(vkCreateFence(device, &unsignalled, NULL, &fence));
}

// Memory with all the wanted properties and, among those types, the preferred ones; no buffer if there is no such memory.
static Memory allocate(VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags preferred) {
  Memory memory = {0};
  VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = MOST,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  CHECK(vkCreateBuffer(device, &create, NULL, &memory.buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, memory.buffer, &needs);
  VkPhysicalDeviceMemoryProperties all;
  vkGetPhysicalDeviceMemoryProperties(physical, &all);
  int chosen = -1;
  for (int index = 0; index < (int)all.memoryTypeCount; index++) {
    VkMemoryPropertyFlags flags = all.memoryTypes[index].propertyFlags;
    if (!(needs.memoryTypeBits >> index & 1) || (flags & wanted) != wanted) continue;
    if (chosen < 0 || (flags & preferred) == preferred) chosen = index;
    if ((flags & preferred) == preferred) break;
  }
  VkMemoryAllocateInfo information = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
                                      .memoryTypeIndex = chosen < 0 ? 0 : chosen};
  VkDeviceMemory allocated;
  if (chosen < 0 || vkAllocateMemory(device, &information, NULL, &allocated) != VK_SUCCESS) return (Memory){0};
  CHECK(vkBindBufferMemory(device, memory.buffer, allocated, 0));
  if (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
    CHECK(vkMapMemory(device, allocated, 0, VK_WHOLE_SIZE, 0, &memory.mapped));
    memset(memory.mapped, 1, MOST);
  }
  return memory;
}

static void begin(void) {
  VkCommandBufferBeginInfo information = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(commands, &information));
}

static double submitted(void) {
  VkSubmitInfo information = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
  CHECK(vkResetFences(device, 1, &fence));
  double start = now();
  CHECK(vkQueueSubmit(queue, 1, &information, fence));
  CHECK(vkWaitForFences(device, 1, &fence, true, UINT64_MAX));
  return now() - start;
}

static int ascending(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

// The median of several submissions of the recorded commands, after one that does not count.
static double median(void) {
  double seconds[TRIALS];
  submitted();
  for (int trial = 0; trial < TRIALS; trial++) seconds[trial] = submitted();
  qsort(seconds, TRIALS, sizeof *seconds, ascending);
  return seconds[TRIALS / 2];
}

static VkPipelineLayout layout;
static VkDescriptorSet set;
static VkPipeline pipeline;

static void prepare(const char *path, VkBuffer buffer) {
  static uint32_t code[1 << 16];
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(code, 1, sizeof code, file) : 0;
  if (!size) {
    fprintf(stderr, "card_floors: cannot read '%s'\n", path);
    exit(1);
  }
  fclose(file);
  VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1,
                                          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  VkDescriptorSetLayoutCreateInfo bindings = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .bindingCount = 1, .pBindings = &binding};
  VkDescriptorSetLayout sets;
  CHECK(vkCreateDescriptorSetLayout(device, &bindings, NULL, &sets));
  VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = sizeof(uint32_t)};
  VkPipelineLayoutCreateInfo create = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                       .pSetLayouts = &sets, .pushConstantRangeCount = 1, .pPushConstantRanges = &constants};
  CHECK(vkCreatePipelineLayout(device, &create, NULL, &layout));
  VkDescriptorPoolSize one = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
  VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
                                     .poolSizeCount = 1, .pPoolSizes = &one};
  VkDescriptorPool descriptors;
  CHECK(vkCreateDescriptorPool(device, &pool, NULL, &descriptors));
  VkDescriptorSetAllocateInfo allocated = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = descriptors, .descriptorSetCount = 1, .pSetLayouts = &sets};
  CHECK(vkAllocateDescriptorSets(device, &allocated, &set));
  VkDescriptorBufferInfo whole = {.buffer = buffer, .range = VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .descriptorCount = 1,
                                .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
  vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
  VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
  VkShaderModule shader;
  CHECK(vkCreateShaderModule(device, &module, NULL, &shader));
  VkComputePipelineCreateInfo information = {
    .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
    .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
              .module = shader, .pName = "main"}};
  CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &information, NULL, &pipeline));
}

// Seconds for each of so many dispatches in one submission.
static double dispatches(uint32_t count, bool isApart) {
  uint32_t steps = 0;
  VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                             .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  begin();
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
  vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof steps, &steps);
  for (uint32_t index = 0; index < count; index++) {
    vkCmdDispatch(commands, 1, 1, 1);
    if (isApart)
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                           &barrier, 0, NULL, 0, NULL);
  }
  CHECK(vkEndCommandBuffer(commands));
  return median() / count;
}

static double copied(VkBuffer source, VkBuffer target, VkDeviceSize bytes) {
  VkBufferCopy region = {.size = bytes};
  begin();
  vkCmdCopyBuffer(commands, source, target, 1, &region);
  CHECK(vkEndCommandBuffer(commands));
  return median();
}

static double moved(void *target, const void *source, size_t bytes) {
  double seconds[TRIALS];
  for (int trial = 0; trial < TRIALS; trial++) {
    double start = now();
    memcpy(target, source, bytes);
    seconds[trial] = now() - start;
  }
  qsort(seconds, TRIALS, sizeof *seconds, ascending);
  return seconds[TRIALS / 2];
}

int main(int count, char **arguments) {
  if (count != 4 || atoi(arguments[3]) < 1) {
    fprintf(stderr, "usage: card_floors DEVICE EMPTY.spv COUNT\n");
    return 64;
  }
  choose(arguments[1]);
  open_device();
  VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  Memory host = allocate(visible, VK_MEMORY_PROPERTY_HOST_CACHED_BIT), local = allocate(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  Memory shared = allocate(visible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  void *plain = malloc(MOST);
  if (!host.buffer || !local.buffer || !plain) {
    fprintf(stderr, "card_floors: the device or the host lacks memory for copies of %u bytes\n", MOST);
    return 1;
  }
  memset(plain, 2, MOST);
  prepare(arguments[2], host.buffer);
  begin();
  CHECK(vkEndCommandBuffer(commands));
  double submit = median();
  double together = dispatches(atoi(arguments[3]), false), apart = dispatches(atoi(arguments[3]), true);
  printf("{\"submit\": %.4g, \"dispatch\": %.4g, \"dispatchBarrier\": %.4g, \"copies\": [", submit, together, apart);
  for (size_t bytes = 1 << 20; bytes <= MOST; bytes *= 4)
    for (int isUp = 1; isUp >= 0; isUp--) {
      double seconds = isUp ? copied(host.buffer, local.buffer, bytes) : copied(local.buffer, host.buffer, bytes);
      printf("%s{\"bytes\": %zu, \"way\": \"%s\", \"copied\": %.4g", bytes > 1 << 20 || !isUp ? ", " : "", bytes,
             isUp ? "up" : "down", seconds);
      if (shared.mapped)
        printf(", \"mapped\": %.4g", isUp ? moved(shared.mapped, plain, bytes) : moved(plain, shared.mapped, bytes));
      printf("}");
    }
  printf("]}\n");
  return 0;
}
