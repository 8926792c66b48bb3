#pragma once
#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan_core.h>

// Declarations of extensions that headers from before 2023 lack.
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
typedef enum VkComponentTypeKHR { VK_COMPONENT_TYPE_FLOAT16_KHR = 0, VK_COMPONENT_TYPE_FLOAT32_KHR = 1 } VkComponentTypeKHR;
typedef enum VkScopeKHR { VK_SCOPE_SUBGROUP_KHR = 3 } VkScopeKHR;
typedef struct VkCooperativeMatrixPropertiesKHR {
  VkStructureType sType;
  void *_Nullable pNext;
  uint32_t MSize, NSize, KSize;
  VkComponentTypeKHR AType, BType, CType, ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
} VkCooperativeMatrixPropertiesKHR;
typedef struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
  VkStructureType sType;
  void *_Nullable pNext;
  VkBool32 cooperativeMatrix, cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;
typedef VkResult(VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)(
    VkPhysicalDevice _Nonnull device, uint32_t *_Nonnull count, VkCooperativeMatrixPropertiesKHR *_Nullable properties);
#endif
#ifndef VK_ARM_shader_core_builtins
#define VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME "VK_ARM_shader_core_builtins"
typedef struct VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM {
  VkStructureType sType;
  void *_Nullable pNext;
  uint64_t shaderCoreMask;
  uint32_t shaderCoreCount, shaderWarpsPerCore;
} VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM;
#endif

/// Functions that need no instance.
#define KELVIN_VULKAN_GLOBAL_FUNCTIONS(F) \
  F(vkCreateInstance) F(vkEnumerateInstanceVersion) F(vkEnumerateInstanceLayerProperties) \
  F(vkEnumerateInstanceExtensionProperties)

/// Functions of an instance and of its devices, in Vulkan 1.1.
#define KELVIN_VULKAN_INSTANCE_FUNCTIONS(F) \
  F(vkDestroyInstance) F(vkEnumeratePhysicalDevices) F(vkGetPhysicalDeviceProperties2) \
  F(vkGetPhysicalDeviceFeatures2) F(vkGetPhysicalDeviceMemoryProperties2) F(vkGetPhysicalDeviceQueueFamilyProperties) \
  F(vkEnumerateDeviceExtensionProperties) F(vkGetPhysicalDeviceExternalBufferProperties) \
  F(vkCreateDevice) F(vkDestroyDevice) F(vkGetDeviceQueue) \
  F(vkCreateBuffer) F(vkDestroyBuffer) F(vkGetBufferMemoryRequirements) F(vkCreateBufferView) F(vkDestroyBufferView) \
  F(vkAllocateMemory) F(vkFreeMemory) F(vkBindBufferMemory) F(vkMapMemory) \
  F(vkCreateShaderModule) F(vkDestroyShaderModule) F(vkCreateDescriptorSetLayout) F(vkDestroyDescriptorSetLayout) \
  F(vkCreatePipelineLayout) F(vkDestroyPipelineLayout) F(vkCreateComputePipelines) F(vkDestroyPipeline) \
  F(vkCreatePipelineCache) F(vkDestroyPipelineCache) F(vkGetPipelineCacheData) F(vkMergePipelineCaches) \
  F(vkCreateDescriptorPool) F(vkDestroyDescriptorPool) F(vkAllocateDescriptorSets) F(vkUpdateDescriptorSets) \
  F(vkCreateCommandPool) F(vkDestroyCommandPool) F(vkAllocateCommandBuffers) F(vkResetCommandPool) \
  F(vkBeginCommandBuffer) F(vkEndCommandBuffer) F(vkCmdBindPipeline) F(vkCmdBindDescriptorSets) \
  F(vkCmdPushConstants) F(vkCmdDispatch) F(vkCmdDispatchBase) F(vkCmdPipelineBarrier) F(vkCmdCopyBuffer) F(vkCmdWriteTimestamp) \
  F(vkCmdResetQueryPool) F(vkCreateQueryPool) F(vkDestroyQueryPool) F(vkGetQueryPoolResults) \
  F(vkCreateFence) F(vkDestroyFence) F(vkResetFences) F(vkWaitForFences) F(vkQueueSubmit)

/// Functions of extensions, NULL if the extension is not enabled.
#define KELVIN_VULKAN_OPTIONAL_FUNCTIONS(F) \
  F(vkCreateDebugUtilsMessengerEXT) F(vkDestroyDebugUtilsMessengerEXT) \
  F(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR) F(vkGetMemoryHostPointerPropertiesEXT)

typedef struct KelvinVulkan {
#define KELVIN_FIELD(name) PFN_##name _Nullable name;
  KELVIN_VULKAN_GLOBAL_FUNCTIONS(KELVIN_FIELD)
  KELVIN_VULKAN_INSTANCE_FUNCTIONS(KELVIN_FIELD)
  KELVIN_VULKAN_OPTIONAL_FUNCTIONS(KELVIN_FIELD)
#undef KELVIN_FIELD
} KelvinVulkan;

/// Opens libvulkan.so.1, once for the process, and fills the global functions.
///
/// `entry` is another loader's vkGetInstanceProcAddr, or NULL. Returns NULL, or the reason why the library cannot be
/// used.
const char *_Nullable kelvin_vulkan_open(KelvinVulkan *_Nonnull table, const void *_Nullable entry);

/// Fills the other functions. Returns NULL on success; otherwise destroys the instance and returns the name of the
/// first missing function.
const char *_Nullable kelvin_vulkan_load(
    KelvinVulkan *_Nonnull table, VkInstance _Nonnull instance, const void *_Nullable entry);
