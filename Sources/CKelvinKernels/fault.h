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

enum { index_run = 8 };

/* Finds the places in their axis of `index_run` indices. Returns false if one is outside. */
static inline __attribute__((always_inline)) bool indices_within(
  const ck_scalar type, const void *indices, size_t i, size_t length, size_t places[index_run]) {
  bool is_outside = false;
  for (size_t k = 0; k < index_run; k++) {
    int64_t given = typed_integer(type, indices, i + k);
    places[k] = (size_t)(given + (given >> 63 & (int64_t)length));
    is_outside |= places[k] >= length;
  }
  return !is_outside;
}

/* Executes `write` for i = 0 to count - 1 with the place `index` of index `first + i` of the arguments. At an index
 * outside the axis it reports the index and executes `fail` instead. `type` is a constant where speed matters. */
#define FOR_INDICES(arguments, type, first, count, fail, write)                                                   \
  {                                                                                                               \
    const void *indices = (arguments)->indices;                                                                   \
    const size_t length = (arguments)->length, run_end = (count);                                                 \
    for (size_t i = 0; i < run_end;) {                                                                            \
      size_t places[index_run];                                                                                   \
      if (run_end - i >= index_run && indices_within(type, indices, (first) + i, length, places)) {               \
        for (size_t k = 0; k < index_run; k++, i++) {                                                             \
          const size_t index = places[k];                                                                         \
          write;                                                                                                  \
        }                                                                                                         \
        continue;                                                                                                 \
      }                                                                                                           \
      const size_t index =                                                                                        \
        index_within((arguments)->fault, (arguments)->node, type, indices, (first) + i, length);                  \
      if (index == length) {                                                                                      \
        fail;                                                                                                     \
      } else {                                                                                                    \
        write;                                                                                                    \
      }                                                                                                           \
      i++;                                                                                                        \
    }                                                                                                             \
  }
