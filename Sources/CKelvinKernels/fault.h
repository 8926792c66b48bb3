/* Reports of invalid data by kernels. */
#pragma once
#include "ck_fault.h"
#include "typed.h"

__attribute__((cold, noinline)) void ck_fault_index(ck_fault *fault, uint32_t node, int64_t index, size_t length);

/* Returns an index of an axis. An index outside the axis gives `length`, and is reported unless `fault` is null. */
static inline size_t index_within(
  ck_fault *fault, uint32_t node, ck_scalar type, const void *indices, size_t i, size_t length) {
  int64_t given = typed_integer(type, indices, i);
  size_t index = (size_t)(given < 0 ? given + (int64_t)length : given);
  if (index < length) return index;
  if (fault) ck_fault_index(fault, node, given, length);
  return length;
}
