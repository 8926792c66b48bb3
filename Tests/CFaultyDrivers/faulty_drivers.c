#include "CFaultyDrivers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CKelvinSupport.h"
#include "faulty_cards.h"
#include "faulty_memory.h"
#include "faulty_results.h"

/// Both interfaces pass only integers and pointers, at most ten, so one call type serves all functions.
typedef uintptr_t Word;
#define WORDS Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j
#define EACH a, b, c, d, e, f, g, h, i, j
typedef Word (*Call)(WORDS);

#define FUNCTIONS(F) \
  KELVIN_VULKAN_GLOBAL_FUNCTIONS(F) KELVIN_VULKAN_INSTANCE_FUNCTIONS(F) F(vkGetMemoryHostPointerPropertiesEXT) \
  KELVIN_OPENCL_FUNCTIONS(F)

enum {
#define INDEX(name) Index_##name,
  FUNCTIONS(INDEX) Count
#undef INDEX
};

static const char *const names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)
#undef NAME
};

static _Atomic(Call) real[Count];
static _Atomic(PFN_vkUnmapMemory) realUnmap;
static _Atomic(PFN_vkQueueWaitIdle) realWait;
static _Atomic(PFN_vkCmdFillBuffer) realFill;
static _Atomic unsigned calls[Count];
static _Atomic unsigned failures;
static _Atomic int isHung;
static _Atomic int isStanding;
static FaultyOrder order;

/// The queues that last received work, as long as they exist.
static _Atomic(VkQueue) vulkanQueue;
static _Atomic(cl_command_queue) openclQueue;

/// The events that hung OpenCL queues wait for.
enum { GateLimit = 64 };
static _Atomic(cl_event) gates[GateLimit];
static _Atomic unsigned gateCount;

static void *library(const char *variable, const char *name) {
  const char *path = getenv(variable);
  return dlopen(path ? path : name, RTLD_NOW | RTLD_LOCAL);
}

static void *opencl(const char *name) {
  static _Atomic(void *) opened;
  if (!opened) opened = library("FAULTY_OPENCL", "libOpenCL.so.1");
  return opened ? dlsym(opened, name) : NULL;
}

static PFN_vkGetInstanceProcAddr vulkan(void) {
  static _Atomic(void *) opened;
  if (!opened) opened = library("FAULTY_VULKAN", "libvulkan.so.1");
  return opened ? (PFN_vkGetInstanceProcAddr)dlsym(opened, "vkGetInstanceProcAddr") : NULL;
}

static int index_of(const char *name) {
  for (int index = 0; index < Count; index++)
    if (strcmp(names[index], name) == 0) return index;
  return -1;
}

/// Calls that do not return wait for another number of orders.
static pthread_mutex_t orderLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER;
static pthread_cond_t failed_now = PTHREAD_COND_INITIALIZER;
static unsigned orders;

static void wait_for_order(void) {
  pthread_mutex_lock(&orderLock);
  for (unsigned known = orders; known == orders;) pthread_cond_wait(&ordered, &orderLock);
  pthread_mutex_unlock(&orderLock);
}

static void note_failure(void) {
  pthread_mutex_lock(&orderLock);
  failures += 1;
  pthread_cond_broadcast(&failed_now);
  pthread_mutex_unlock(&orderLock);
}

static void note_order(void) {
  pthread_mutex_lock(&orderLock);
  orders += 1;
  pthread_cond_broadcast(&ordered);
  pthread_mutex_unlock(&orderLock);
}

/// For an OpenCL function that gives an object, which argument takes its status; -1 for others.
static int status_argument(int index) {
  switch (index) {
    case Index_clCreateContext: return 5;
    case Index_clCreateCommandQueue: return 3;
    case Index_clCreateBuffer: return 4;
    case Index_clEnqueueMapBuffer: return 9;
    case Index_clCreateProgramWithSource: return 4;
    case Index_clCreateProgramWithBinary: return 6;
    case Index_clCreateKernel: return 2;
    default: return -1;
  }
}

/// For an OpenCL function that puts something on a queue, which argument counts the events that it waits for; their
/// list is the next.
static int list_argument(int index) {
  switch (index) {
    case Index_clEnqueueNDRangeKernel:
    case Index_clEnqueueReadBuffer:
    case Index_clEnqueueWriteBuffer:
    case Index_clEnqueueMapBuffer: return 6;
    case Index_clEnqueueUnmapMemObject: return 3;
    case Index_clEnqueueMarkerWithWaitList: return 1;
    default: return -1;
  }
}

static int can_fail(int index) {
  static const char *const silent[] = {
      "vkDestroy", "vkFree", "vkCmd", "vkGetDeviceQueue", "vkGetPhysicalDevice", "vkGetBufferMemory", "vkUpdate"};
  for (unsigned prefix = 0; prefix < sizeof silent / sizeof *silent; prefix++)
    if (strncmp(names[index], silent[prefix], strlen(silent[prefix])) == 0) return 0;
  return 1;
}

static int fails(int index) {
  unsigned call = atomic_fetch_add(&calls[index], 1) + 1;
  const FaultyFault *fault = &order.fault;
  if (fault->function == NULL || strcmp(fault->function, names[index]) != 0) return 0;
  return call >= fault->first && call - fault->first < fault->count;
}

static Word answer(int index, const Word *words, int code) {
  int argument = status_argument(index);
  if (argument < 0) return (Word)code;
  if (words[argument]) *(cl_int *)words[argument] = code;
  return 0;
}

static Word failed(int index, const Word *words, int code) {
  note_failure();
  return answer(index, words, code);
}

/// A call that returns too late and has no effect.
static Word stuck(int index, const Word *words, int code) {
  note_failure();
  wait_for_order();
  return answer(index, words, code);
}

/// Lets an OpenCL queue wait for an event that does not come before the next order.
static void gate(int index, Word *words) {
  cl_context context = NULL;
  cl_int status = CL_SUCCESS;
  __typeof__(clGetCommandQueueInfo) *query = (__typeof__(query))opencl("clGetCommandQueueInfo");
  __typeof__(clCreateUserEvent) *create = (__typeof__(create))opencl("clCreateUserEvent");
  query((cl_command_queue)words[0], CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  unsigned place = atomic_fetch_add(&gateCount, 1) % GateLimit;
  gates[place] = create(context, &status);
  int argument = list_argument(index);
  words[argument] = 1;
  words[argument + 1] = (Word)&gates[place];
}

/// Whether the queue is to stand from this call on, so that the clSetEventCallback that does not return is made at all: it
/// is not for what is over already.
static int stands_for_callback(int index) {
  const FaultyFault *fault = &order.fault;
  if (index != Index_clEnqueueNDRangeKernel || fault->hangs != FaultyCallHangs || fault->function == NULL) return 0;
  if (strcmp(fault->function, names[Index_clSetEventCallback]) != 0) return 0;
  unsigned next = calls[Index_clSetEventCallback] + 1;
  return next >= fault->first && next - fault->first < fault->count && atomic_exchange(&isStanding, 1) == 0;
}

/// The handles of the faulty kernel: modules and pipelines, or kernels. Names of OpenCL kernels are counted when they
/// first occur.
enum { LieLimit = 256 };
static pthread_mutex_t lieLock = PTHREAD_MUTEX_INITIALIZER;
static Word lying[LieLimit];
static char kernelNames[LieLimit][64];
static unsigned kernelCount;
/// Whether the pipeline that this thread has bound is faulty.
static _Thread_local int isLieBound;

/// Records a new handle; an earlier record of the same handle is removed.
static void note_handle(Word handle, int lies) {
  int known = -1, empty = -1;
  for (int place = 0; place < LieLimit; place++) {
    if (lying[place] == handle) known = place;
    if (lying[place] == 0) empty = place;
  }
  if (known >= 0 && !lies) lying[known] = 0;
  if (known < 0 && lies && empty >= 0) lying[empty] = handle;
}

static int lies(Word handle) {
  pthread_mutex_lock(&lieLock);
  int found = 0;
  for (int place = 0; place < LieLimit; place++) found |= handle != 0 && lying[place] == handle;
  pthread_mutex_unlock(&lieLock);
  return found;
}

static void note_module(Word module) {
  pthread_mutex_lock(&lieLock);
  note_handle(module, ++kernelCount == order.lie);
  pthread_mutex_unlock(&lieLock);
}

static void note_pipelines(const VkComputePipelineCreateInfo *information, const VkPipeline *pipelines, unsigned count) {
  for (unsigned index = 0; index < count; index++) {
    int isLie = lies((Word)information[index].stage.module);
    pthread_mutex_lock(&lieLock);
    note_handle((Word)pipelines[index], isLie);
    pthread_mutex_unlock(&lieLock);
  }
}

static void note_kernel(const char *name, Word kernel) {
  pthread_mutex_lock(&lieLock);
  unsigned number = 0;
  while (number < kernelCount && strcmp(kernelNames[number], name) != 0) number++;
  if (number == kernelCount && kernelCount < LieLimit)
    snprintf(kernelNames[kernelCount++], sizeof *kernelNames, "%s", name);
  note_handle(kernel, number + 1 == order.lie);
  pthread_mutex_unlock(&lieLock);
}

static Word forward(int index, const Word *w) {
  return real[index](w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
}

/// Records a kernel, unless it is left out; a wrong word in its result follows it.
static Word dispatch(int index, const Word *words) {
  FaultyKernel kernel = isLieBound ? FaultyKernelDropped : faulty_next_kernel(&order);
  if (kernel == FaultyKernelDropped) return 0;
  Word result = forward(index, words);
  if (kernel == FaultyKernelFlipped) faulty_flip_vulkan(realFill, (VkCommandBuffer)words[0]);
  return result;
}

static Word enqueue(const Word *words) {
  FaultyKernel kernel =
      order.group == 0 && lies(words[1]) ? FaultyKernelDropped : faulty_next_kernel(&order);
  if (kernel == FaultyKernelDropped)
    return faulty_drop_opencl(opencl("clEnqueueMarkerWithWaitList"), (cl_command_queue)words[0], (cl_uint)words[6],
                              (const cl_event *)words[7], (cl_event *)words[8]);
  Word result = forward(Index_clEnqueueNDRangeKernel, words);
  if (kernel == FaultyKernelFlipped && result == CL_SUCCESS)
    faulty_flip_opencl(opencl("clEnqueueWriteBuffer"), (cl_command_queue)words[0], (cl_kernel)words[1]);
  return result;
}

static Word allocate_vulkan(Word *words) {
  VkMemoryAllocateInfo information = *(const VkMemoryAllocateInfo *)words[1];
  int isCounted = faulty_is_device_memory(information.memoryTypeIndex, order.card);
  if (isCounted && !faulty_reserve(&order, information.allocationSize)) return (Word)VK_ERROR_OUT_OF_DEVICE_MEMORY;
  faulty_real_memory_type(&information.memoryTypeIndex, order.card);
  words[1] = (Word)&information;
  Word result = forward(Index_vkAllocateMemory, words);
  if (isCounted) faulty_hold(result == VK_SUCCESS ? *(void **)words[3] : NULL, information.allocationSize);
  // Memory with a chain is the host's own and is not filled.
  if (result != VK_SUCCESS || order.fill == 0 || information.pNext != NULL) return result;
  VkDeviceMemory memory = *(VkDeviceMemory *)words[3];
  PFN_vkMapMemory map = (PFN_vkMapMemory)real[Index_vkMapMemory];
  PFN_vkUnmapMemory unmap = realUnmap;
  void *pointer = NULL;
  if (map((VkDevice)words[0], memory, 0, VK_WHOLE_SIZE, 0, &pointer) != VK_SUCCESS) return result;
  memset(pointer, order.fill, information.allocationSize);
  unmap((VkDevice)words[0], memory);
  return result;
}

static Word make_opencl_buffer(Word *words) {
  if (!faulty_reserve(&order, words[2])) return failed(Index_clCreateBuffer, words, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  void *pattern = NULL;
  if (order.fill != 0 && !(words[1] & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR))) {
    pattern = malloc(words[2]);
    memset(pattern, order.fill, words[2]);
    words[1] |= CL_MEM_COPY_HOST_PTR;
    words[3] = (Word)pattern;
  }
  Word result = forward(Index_clCreateBuffer, words);
  free(pattern);
  faulty_hold((void *)result, words[2]);
  return result;
}

enum { DeviceLimit = 16 };

/// Lists each device as often as the order says.
static Word list_vulkan(const Word *words) {
  uint32_t *count = (uint32_t *)words[1], known = DeviceLimit;
  VkPhysicalDevice *list = (VkPhysicalDevice *)words[2], devices[DeviceLimit];
  const Word inner[] = {words[0], (Word)&known, (Word)devices, 0, 0, 0, 0, 0, 0, 0};
  Word result = forward(Index_vkEnumeratePhysicalDevices, inner);
  if (result != VK_SUCCESS) return result;
  known *= order.cards;
  *count = list == NULL || known < *count ? known : *count;
  for (uint32_t place = 0; list != NULL && place < *count; place++) list[place] = devices[place / order.cards];
  return VK_SUCCESS;
}

static Word list_opencl(const Word *words) {
  cl_uint *count = (cl_uint *)words[4], known = 0;
  cl_device_id *list = (cl_device_id *)words[3], devices[DeviceLimit];
  const Word inner[] = {words[0], words[1], DeviceLimit, (Word)devices, (Word)&known, 0, 0, 0, 0, 0};
  Word result = forward(Index_clGetDeviceIDs, inner);
  if (result != CL_SUCCESS) return result;
  known *= order.cards;
  if (count != NULL) *count = known;
  for (cl_uint place = 0; list != NULL && place < known && place < words[2]; place++)
    list[place] = devices[place / order.cards];
  return CL_SUCCESS;
}

/// Waits for the real work of the queues, so that no work of one trial runs in the next.
static void settle(void) {
  VkQueue queue = atomic_exchange(&vulkanQueue, NULL);
  if (queue != NULL) realWait(queue);
  cl_command_queue other = atomic_exchange(&openclQueue, NULL);
  __typeof__(clFinish) *finish = (__typeof__(finish))opencl("clFinish");
  if (other != NULL) finish(other);
}

/// Records the queues with work, and the destroyed ones.
static void watch(int index, const Word *words) {
  if (index == Index_vkQueueSubmit) vulkanQueue = (VkQueue)words[0];
  else if (index == Index_vkDestroyDevice) vulkanQueue = NULL;
  else if (list_argument(index) >= 0) openclQueue = (cl_command_queue)words[0];
  else if (index == Index_clReleaseCommandQueue) openclQueue = NULL;
}

static Word pass(int index, WORDS) {
  Word words[] = {EACH};
  watch(index, words);
  if (fails(index)) {
    if (order.fault.hangs == FaultyAnswers) return failed(index, words, order.fault.code);
    if (order.fault.hangs == FaultyCallHangs) return stuck(index, words, order.fault.code);
    note_failure();
    if (order.fault.hangs == FaultyCallComputes) faulty_compute(order.fault.code);
    else if (list_argument(index) < 0) isHung = 1;
    else gate(index, words);
  } else if (stands_for_callback(index)) gate(index, words);
  if (index == Index_vkQueueSubmit || index == Index_clFlush) faulty_wait(order.slow);
  switch (index) {
    case Index_vkQueueSubmit:
      if (isHung) return VK_SUCCESS;
      break;
    case Index_vkUpdateDescriptorSets: faulty_note_writes((uint32_t)words[1], (void *)words[2]); break;
    case Index_vkCmdBindDescriptorSets: faulty_note_bound(*(VkDescriptorSet *)words[5]); break;
    case Index_clSetKernelArg: faulty_note_argument((cl_kernel)words[0], (cl_uint)words[1], words[2], (void *)words[3]); break;
    case Index_vkWaitForFences:
      if (isHung) return VK_TIMEOUT;
      break;
    case Index_vkAllocateMemory: return allocate_vulkan(words);
    case Index_vkFreeMemory: faulty_release((void *)words[1]); break;
    case Index_clReleaseMemObject: faulty_release((void *)words[0]); break;
    case Index_clCreateBuffer: return make_opencl_buffer(words);
    case Index_vkEnumeratePhysicalDevices:
      if (order.cards > 1) return list_vulkan(words);
      break;
    case Index_clGetDeviceIDs:
      if (order.cards > 1) return list_opencl(words);
      break;
    case Index_vkCmdBindPipeline: isLieBound = order.lie != 0 && lies(words[2]); break;
    case Index_vkCmdDispatch:
    case Index_vkCmdDispatchBase: return dispatch(index, words);
    case Index_clEnqueueNDRangeKernel: return enqueue(words);
    default: break;
  }
  Word result = forward(index, words);
  switch (index) {
    case Index_vkGetPhysicalDeviceProperties2:
      faulty_describe((void *)words[1], order.card);
      faulty_renew((void *)words[1], order.newer);
      break;
    case Index_vkCreateDevice: isHung = 0; break;
    case Index_vkCreateShaderModule:
      if (result == VK_SUCCESS) note_module(*(Word *)words[3]);
      break;
    case Index_vkCreateComputePipelines:
      if (result == VK_SUCCESS && order.lie != 0) note_pipelines((void *)words[3], (void *)words[5], (unsigned)words[2]);
      break;
    case Index_clGetKernelWorkGroupInfo:
      if (order.group != 0 && words[2] == CL_KERNEL_WORK_GROUP_SIZE && lies(words[0])) *(size_t *)words[4] = order.group;
      break;
    case Index_clCreateKernel:
      if (result != 0) note_kernel((const char *)words[1], result);
      break;
    case Index_vkGetPhysicalDeviceMemoryProperties2:
      faulty_describe_memory((void *)words[1], order.card, order.memory);
      faulty_report_budget((void *)words[1], &order);
      break;
    case Index_vkEnumerateDeviceExtensionProperties:
      if (order.taken != 0 && result == VK_SUCCESS) faulty_offer_budget((void *)words[2], (void *)words[3]);
      break;
    case Index_vkGetBufferMemoryRequirements: faulty_allow_memory((void *)words[2], order.card); break;
    case Index_clGetDeviceInfo:
      if (result == CL_SUCCESS) faulty_answer((cl_device_info)words[1], words[2], (void *)words[3], (size_t *)words[4],
                                              order.card, order.memory);
      if (words[1] == CL_DRIVER_VERSION && result == CL_SUCCESS && words[3] != 0) *(char *)words[3] += (char)order.newer;
      break;
    default: break;
  }
  return result;
}

#define STAND_IN(name) \
  static Word stand_in_##name(WORDS) { return pass(Index_##name, EACH); }
FUNCTIONS(STAND_IN)
#undef STAND_IN

static const Call standIns[] = {
#define ROW(name) stand_in_##name,
    FUNCTIONS(ROW)
#undef ROW
};

static PFN_vkVoidFunction get_address(VkInstance instance, const char *name) {
  PFN_vkVoidFunction function = vulkan()(instance, name);
  if (instance != NULL) {
    realUnmap = (PFN_vkUnmapMemory)vulkan()(instance, "vkUnmapMemory");
    realWait = (PFN_vkQueueWaitIdle)vulkan()(instance, "vkQueueWaitIdle");
    realFill = (PFN_vkCmdFillBuffer)vulkan()(instance, "vkCmdFillBuffer");
  }
  int index = index_of(name);
  if (function == NULL || index < 0) return function;
  real[index] = (Call)function;
  return (PFN_vkVoidFunction)standIns[index];
}

const void *faulty_vulkan(void) { return vulkan() ? (const void *)get_address : NULL; }

void *faulty_opencl(const char *name) {
  void *function = opencl(name);
  int index = index_of(name);
  if (function == NULL || index < 0) return function;
  real[index] = (Call)function;
  return (void *)standIns[index];
}

void faulty_order(FaultyOrder next) {
  note_order();
  __typeof__(clSetUserEventStatus) *end = (__typeof__(end))opencl("clSetUserEventStatus");
  for (unsigned place = 0; place < GateLimit; place++) {
    cl_event event = atomic_exchange(&gates[place], NULL);
    if (event != NULL) end(event, CL_COMPLETE);
  }
  settle();
  static char name[64];
  order = next;
  if (next.fault.function != NULL) {
    snprintf(name, sizeof name, "%s", next.fault.function);
    order.fault.function = name;
  }
  for (int index = 0; index < Count; index++) calls[index] = 0;
  faulty_count_again();
  memset(lying, 0, sizeof lying);
  kernelCount = 0;
  isHung = 0;
  isStanding = 0;
  failures = 0;
  faulty_count_peak_again();
}

const char *faulty_function(unsigned index) { return index < Count ? names[index] : NULL; }
int faulty_can_fail(const char *function) { return index_of(function) >= 0 && can_fail(index_of(function)); }
unsigned faulty_calls(const char *function) { return index_of(function) >= 0 ? calls[index_of(function)] : 0; }
unsigned faulty_kernels(void) { return kernelCount; }
unsigned faulty_failures(void) { return failures; }

void faulty_await_failure(void) {
  pthread_mutex_lock(&orderLock);
  while (failures == 0) pthread_cond_wait(&failed_now, &orderLock);
  pthread_mutex_unlock(&orderLock);
}

#ifdef FAULTY_SHARED
#include "faulty_exports.h"
#endif
