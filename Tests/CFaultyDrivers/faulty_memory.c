#include "faulty_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Held {
  struct Held *next;
  const void *object;
  unsigned long count;
} Held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Held *objects;
static unsigned long held, peak;

int faulty_is_device_memory(uint32_t type, FaultyCard card) { return card != FaultyCardDiscrete || type == 0; }

int faulty_reserve(const FaultyOrder *order, unsigned long count) {
  pthread_mutex_lock(&lock);
  int fits = order->memory == 0 || held + order->taken + order->hidden + count <= order->memory;
  if (fits) held += count;
  if (held > peak) peak = held;
  pthread_mutex_unlock(&lock);
  return fits;
}

void faulty_hold(const void *object, unsigned long count) {
  pthread_mutex_lock(&lock);
  Held *entry = object != NULL ? malloc(sizeof *entry) : NULL;
  if (entry != NULL) {
    *entry = (Held){.next = objects, .object = object, .count = count};
    objects = entry;
  } else {
    held -= count;
  }
  pthread_mutex_unlock(&lock);
}

void faulty_release(const void *object) {
  pthread_mutex_lock(&lock);
  for (Held **place = &objects; *place != NULL; place = &(*place)->next) {
    Held *entry = *place;
    if (entry->object != object) continue;
    held -= entry->count;
    *place = entry->next;
    free(entry);
    break;
  }
  pthread_mutex_unlock(&lock);
}

void faulty_count_peak_again(void) {
  pthread_mutex_lock(&lock);
  peak = held;
  pthread_mutex_unlock(&lock);
}

unsigned long faulty_held_bytes(void) {
  pthread_mutex_lock(&lock);
  unsigned long count = held;
  pthread_mutex_unlock(&lock);
  return count;
}

unsigned long faulty_peak_bytes(void) {
  pthread_mutex_lock(&lock);
  unsigned long count = peak;
  pthread_mutex_unlock(&lock);
  return count;
}

void faulty_offer_budget(uint32_t *count, VkExtensionProperties *properties) {
  if (properties != NULL) {
    VkExtensionProperties *offered = &properties[*count];
    memset(offered, 0, sizeof *offered);
    strcpy(offered->extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    offered->specVersion = VK_EXT_MEMORY_BUDGET_SPEC_VERSION;
  }
  *count += 1;
}

void faulty_report_budget(VkPhysicalDeviceMemoryProperties2 *all, const FaultyOrder *order) {
  for (VkBaseOutStructure *next = all->pNext; next != NULL && order->taken != 0; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
      VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)next;
      budget->heapBudget[0] = order->memory - order->taken;
      budget->heapUsage[0] = faulty_held_bytes();
    }
}
