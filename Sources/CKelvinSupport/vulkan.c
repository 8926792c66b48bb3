#include "vulkan_table.h"

#include <dlfcn.h>
#include <stddef.h>

static PFN_vkGetInstanceProcAddr get_address(const char **reason) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    *reason = dlerror();
    return NULL;
  }
  PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
  if (get == NULL) *reason = "libvulkan.so.1 has no vkGetInstanceProcAddr";
  return get;
}

const char *kelvin_vulkan_open(KelvinVulkan *table, const void *entry) {
  const char *reason = NULL;
  PFN_vkGetInstanceProcAddr get = entry != NULL ? (PFN_vkGetInstanceProcAddr)entry : get_address(&reason);
  if (get == NULL) return reason;
#define KELVIN_LOAD(name) \
  table->name = (PFN_##name)get(NULL, #name); \
  if (table->name == NULL) return "libvulkan.so.1 has no " #name ": Vulkan 1.1 is needed";
  KELVIN_VULKAN_GLOBAL_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
  return NULL;
}

const char *kelvin_vulkan_load(KelvinVulkan *table, VkInstance instance, const void *entry) {
  const char *reason = NULL;
  PFN_vkGetInstanceProcAddr get = entry != NULL ? (PFN_vkGetInstanceProcAddr)entry : get_address(&reason);
  if (get == NULL) return reason;
#define KELVIN_LOAD(name) \
  table->name = (PFN_##name)get(instance, #name); \
  if (table->name == NULL) { \
    if (table->vkDestroyInstance != NULL) table->vkDestroyInstance(instance, NULL); \
    return #name; \
  }
  KELVIN_VULKAN_INSTANCE_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
#define KELVIN_LOAD(name) table->name = (PFN_##name)get(instance, #name);
  KELVIN_VULKAN_OPTIONAL_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
  return NULL;
}
