// Measures the multiply-adds a second of shaders on a Vulkan device, each by the fastest of several submissions.
//
// Usage: multiply_adds DEVICE SUMS FILE.spv…    DEVICE is its name as Vulkan has it; each file is multiply_adds.comp for so many
//                                               sums; prints one JSON object, operations a second by sums

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#define GROUP 64
#define GROUPS 8192
#define UNROLLED 16
#define LANES 4
#define TRIALS 12
#define ENOUGH 0.03
#define BYTES (sizeof(float) * LANES * GROUP * GROUPS)
#define CHECK(call) check(call, #call)

static void check(VkResult result, const char *call) {
  if (result == VK_SUCCESS) return;
  fprintf(stderr, "multiply_adds: VkResult %d of %s\n", result, call);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static VkPhysicalDevice named(const char *name) {
  VkApplicationInfo about = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &about};
  VkInstance instance;
  CHECK(vkCreateInstance(&create, NULL, &instance));
  VkPhysicalDevice devices[16];
  uint32_t count = 16;
  VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices);
  if (result != VK_INCOMPLETE) check(result, "vkEnumeratePhysicalDevices");
  for (uint32_t index = 0; index < count; index++) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(devices[index], &properties);
    if (!strcmp(properties.deviceName, name)) return devices[index];
  }
  fprintf(stderr, "multiply_adds: Vulkan has no device '%s' among its %u\n", name, count);
  exit(1);
}

static uint32_t compute_family(VkPhysicalDevice physical) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  for (uint32_t index = 0; index < count; index++)
    if (families[index].queueFlags & VK_QUEUE_COMPUTE_BIT) return index;
  fprintf(stderr, "multiply_adds: the device has no queue that computes\n");
  exit(1);
}

static VkDeviceMemory shared_memory(VkPhysicalDevice physical, VkDevice device, VkBuffer buffer) {
  VkPhysicalDeviceMemoryProperties all;
  vkGetPhysicalDeviceMemoryProperties(physical, &all);
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, buffer, &needs);
  VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t index = 0; index < all.memoryTypeCount; index++) {
    if (!(needs.memoryTypeBits >> index & 1) || (all.memoryTypes[index].propertyFlags & wanted) != wanted) continue;
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
                                     .memoryTypeIndex = index};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    return memory;
  }
  fprintf(stderr, "multiply_adds: the device has no memory that the host sees\n");
  exit(1);
}

typedef struct {
  VkDevice device;
  VkQueue queue;
  VkCommandBuffer commands;
  VkFence fence;
  VkDescriptorSet set;
  VkPipelineLayout layout;
} Work;

// Seconds from the submission of so many steps to its end.
static double submit(const Work *work, VkPipeline pipeline, uint32_t steps) {
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(work->commands, &begin));
  vkCmdBindPipeline(work->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(work->commands, VK_PIPELINE_BIND_POINT_COMPUTE, work->layout, 0, 1, &work->set, 0, NULL);
  vkCmdPushConstants(work->commands, work->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof steps, &steps);
  vkCmdDispatch(work->commands, GROUPS, 1, 1);
  CHECK(vkEndCommandBuffer(work->commands));
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &work->commands};
  CHECK(vkResetFences(work->device, 1, &work->fence));
  double start = now();
  CHECK(vkQueueSubmit(work->queue, 1, &info, work->fence));
  CHECK(vkWaitForFences(work->device, 1, &work->fence, true, UINT64_MAX));
  return now() - start;
}

static VkPipeline compiled(const Work *work, const char *path) {
  static uint32_t code[1 << 16];
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(code, 1, sizeof code, file) : 0;
  if (!size) {
    fprintf(stderr, "multiply_adds: cannot read '%s'\n", path);
    exit(1);
  }
  fclose(file);
  VkShaderModuleCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
  VkShaderModule module;
  CHECK(vkCreateShaderModule(work->device, &create, NULL, &module));
  VkComputePipelineCreateInfo info = {
    .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = work->layout,
    .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
              .module = module, .pName = "main"}};
  VkPipeline pipeline;
  CHECK(vkCreateComputePipelines(work->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
  return pipeline;
}

// Operations a second, two for each multiply-add.
static double rate(const Work *work, VkPipeline pipeline, int sums) {
  uint32_t steps = 1;
  double seconds = submit(work, pipeline, steps);
  while (steps < 1u << 24 && (seconds = submit(work, pipeline, steps)) < ENOUGH) steps *= 2;
  for (int trial = 0; trial < TRIALS; trial++) {
    double again = submit(work, pipeline, steps);
    if (again < seconds) seconds = again;
  }
  return 2.0 * LANES * sums * UNROLLED * steps * GROUP * GROUPS / seconds;
}

static Work prepared(const char *name) {
  VkPhysicalDevice physical = named(name);
  Work work;
  float priority = 1;
  uint32_t family = compute_family(physical);
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = family,
                                   .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
  CHECK(vkCreateDevice(physical, &create, NULL, &work.device));
  vkGetDeviceQueue(work.device, family, 0, &work.queue);

  VkBufferCreateInfo values = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkBuffer buffer;
  CHECK(vkCreateBuffer(work.device, &values, NULL, &buffer));
  VkDeviceMemory memory = shared_memory(physical, work.device, buffer);
  float *mapped;
  CHECK(vkMapMemory(work.device, memory, 0, BYTES, 0, (void **)&mapped));
  for (size_t place = 0; place < BYTES / sizeof(float); place++)
    mapped[place] = 0.25f + (place * 2654435761u >> 16 & 0xff) / 1024.0f;

  VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1,
                                          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  VkDescriptorSetLayoutCreateInfo bindings = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .bindingCount = 1, .pBindings = &binding};
  VkDescriptorSetLayout sets;
  CHECK(vkCreateDescriptorSetLayout(work.device, &bindings, NULL, &sets));
  VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = sizeof(uint32_t)};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                       .pSetLayouts = &sets, .pushConstantRangeCount = 1, .pPushConstantRanges = &constants};
  CHECK(vkCreatePipelineLayout(work.device, &layout, NULL, &work.layout));
  VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
  VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
                                     .poolSizeCount = 1, .pPoolSizes = &size};
  VkDescriptorPool descriptors;
  CHECK(vkCreateDescriptorPool(work.device, &pool, NULL, &descriptors));
  VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                          .descriptorPool = descriptors, .descriptorSetCount = 1, .pSetLayouts = &sets};
  CHECK(vkAllocateDescriptorSets(work.device, &allocate, &work.set));
  VkDescriptorBufferInfo whole = {.buffer = buffer, .range = VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = work.set, .descriptorCount = 1,
                                .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
  vkUpdateDescriptorSets(work.device, 1, &write, 0, NULL);

  VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family,
                                      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
  VkCommandPool commandPool;
  CHECK(vkCreateCommandPool(work.device, &commands, NULL, &commandPool));
  VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = commandPool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
  CHECK(vkAllocateCommandBuffers(work.device, &one, &work.commands));
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  CHECK(vkCreateFence(work.device, &fence, NULL, &work.fence));
  return work;
}

int main(int count, char **arguments) {
  if (count < 4 || count % 2) {
    fprintf(stderr, "usage: multiply_adds DEVICE SUMS FILE.spv…\n");
    return 64;
  }
  Work work = prepared(arguments[1]);
  printf("{");
  for (int index = 2; index < count; index += 2) {
    int sums = atoi(arguments[index]);
    printf("%s\"%d\": %.6g", index > 2 ? ", " : "", sums, rate(&work, compiled(&work, arguments[index + 1]), sums));
  }
  printf("}\n");
  return 0;
}
