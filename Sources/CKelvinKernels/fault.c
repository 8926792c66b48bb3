#include "fault.h"

void ck_fault_index(ck_fault *fault, uint32_t node, int64_t index, size_t length) {
  if (__atomic_exchange_n(&fault->is_set, 1, __ATOMIC_RELAXED)) return;
  fault->node = node;
  fault->index = index;
  fault->length = length;
}
