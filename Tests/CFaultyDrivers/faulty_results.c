#include "faulty_results.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/// 100000 as a float32.
static const uint32_t faulty_word = 0x47C35000;

static _Atomic unsigned kernels;

FaultyKernel faulty_next_kernel(const FaultyOrder *order) {
  unsigned number = atomic_fetch_add(&kernels, 1) + 1;
  if (number <= order->after) return FaultyKernelRuns;
  number -= order->after;
  if (order->drop != 0 && number % order->drop == 0) return FaultyKernelDropped;
  if (order->flip != 0 && number % order->flip == 0) return FaultyKernelFlipped;
  return FaultyKernelRuns;
}

void faulty_count_again(void) { kernels = 0; }

/// A table from handles to places, in which the oldest are replaced.
typedef struct {
  uint64_t handle;
  uint64_t memory;
  uint64_t offset;
  uint64_t pending;
  cl_uint pendingIndex;
} Place;

enum { PlaceLimit = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Place places[PlaceLimit];

static Place *place(uint64_t handle, int makes) {
  static unsigned next;
  for (unsigned index = 0; index < PlaceLimit; index++)
    if (places[index].handle == handle) return &places[index];
  if (!makes) return NULL;
  Place *made = &places[next++ % PlaceLimit];
  *made = (Place){.handle = handle};
  return made;
}

void faulty_note_writes(uint32_t count, const VkWriteDescriptorSet *writes) {
  pthread_mutex_lock(&lock);
  for (uint32_t index = 0; index < count; index++) {
    if (writes[index].dstBinding != 0 || writes[index].pBufferInfo == NULL) continue;
    Place *written = place((uint64_t)(uintptr_t)writes[index].dstSet, 1);
    written->memory = (uint64_t)(uintptr_t)writes[index].pBufferInfo->buffer;
    written->offset = writes[index].pBufferInfo->offset;
  }
  pthread_mutex_unlock(&lock);
}

static _Thread_local VkDescriptorSet bound;

void faulty_note_bound(VkDescriptorSet set) { bound = set; }

void faulty_flip_vulkan(PFN_vkCmdFillBuffer fill, VkCommandBuffer commands) {
  pthread_mutex_lock(&lock);
  Place *written = place((uint64_t)(uintptr_t)bound, 0);
  Place found = written != NULL ? *written : (Place){0};
  pthread_mutex_unlock(&lock);
  if (found.memory != 0) fill(commands, (VkBuffer)(uintptr_t)found.memory, found.offset, 4, faulty_word);
}

void faulty_note_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  if (value == NULL) return;
  pthread_mutex_lock(&lock);
  Place *written = place((uint64_t)(uintptr_t)kernel, 1);
  if (index % 2 == 0 && size == sizeof(cl_mem)) {
    memcpy(&written->pending, value, sizeof(cl_mem));
    written->pendingIndex = index;
  } else if (size == sizeof(uint32_t) && index == written->pendingIndex + 1) {
    uint32_t page = 0;
    memcpy(&page, value, sizeof page);
    written->memory = written->pending;
    written->offset = (uint64_t)page * 256;
  }
  pthread_mutex_unlock(&lock);
}

uintptr_t faulty_drop_opencl(
    const void *function, cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event) {
  __typeof__(clEnqueueMarkerWithWaitList) *mark = (__typeof__(mark))function;
  return (uintptr_t)mark(queue, count, events, event);
}

void faulty_flip_opencl(const void *function, cl_command_queue queue, cl_kernel kernel) {
  __typeof__(clEnqueueWriteBuffer) *write = (__typeof__(write))function;
  pthread_mutex_lock(&lock);
  Place *written = place((uint64_t)(uintptr_t)kernel, 0);
  Place found = written != NULL ? *written : (Place){0};
  pthread_mutex_unlock(&lock);
  if (found.memory == 0) return;
  write(queue, (cl_mem)(uintptr_t)found.memory, CL_TRUE, found.offset, 4, &faulty_word, 0, NULL, NULL);
}

static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void faulty_compute(int milliseconds) {
  double end = thread_seconds() + milliseconds * 1e-3;
  while (thread_seconds() < end) {}
}

void faulty_wait(unsigned milliseconds) {
  if (milliseconds == 0) return;
  struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}
