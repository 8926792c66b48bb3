#include "ck_gather.h"
#include "fault.h"

#include <string.h>

/* Calls LOOP(element type, index type) for the sizes of elements and the types of indices that have loops of their own;
 * the last index type stands for all others. */
#define GATHER_ELEMENTS(LOOP, index_type)                                          \
  switch (element) {                                                               \
  case 1: LOOP(uint8_t, index_type) break;                                         \
  case 2: LOOP(uint16_t, index_type) break;                                        \
  case 4: LOOP(uint32_t, index_type) break;                                        \
  default: LOOP(uint64_t, index_type) break;                                       \
  }
#define GATHER_TYPES(LOOP)                                                         \
  if (g->index_type == ck_int32) GATHER_ELEMENTS(LOOP, ck_int32)                   \
  else if (g->index_type == ck_int64) GATHER_ELEMENTS(LOOP, ck_int64)              \
  else GATHER_ELEMENTS(LOOP, g->index_type)

/* Gathers slices of one element. */
static void gather_single(const ck_gather_args *g, size_t begin, size_t end, const size_t element) {
#define GATHER_SINGLE(type, index_type)                                                                           \
  for (size_t item = begin; item < end;) {                                                                        \
    const type *from = (const type *)g->x + item / g->picked * g->length;                                         \
    type *to = (type *)g->y + item;                                                                               \
    size_t place = item % g->picked, count = g->picked - place < end - item ? g->picked - place : end - item;     \
    FOR_INDICES(g, index_type, place, count, return, to[i] = from[index])                                         \
    item += count;                                                                                                \
  }
  GATHER_TYPES(GATHER_SINGLE)
}

void ck_gather_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_gather_args *g = args;
  if (g->inner == 1 || g->inner == 2 || g->inner == 4 || g->inner == 8) {
    gather_single(g, begin, end, g->inner);
    return;
  }
  for (size_t item = begin; item < end; item++) {
    size_t index = index_within(g->fault, g->node, g->index_type, g->indices, item % g->picked, g->length);
    if (index == g->length) return;
    const char *from = (const char *)g->x + (item / g->picked * g->length + index) * g->inner;
    memcpy((char *)g->y + item * g->inner, from, g->inner);
  }
}

/* Gathers `count` elements; the elements after each other have `step` elements of x between them, and `stride` those
 * of the axis. Returns whether all indices are inside. */
static bool gather_row(
  const ck_gather_elements_args *g, size_t base, size_t first, size_t count, size_t step, size_t stride,
  const size_t element) {
#define GATHER_ROW(type, index_type)                                                                              \
  {                                                                                                               \
    const type *from = (const type *)g->x + base;                                                                 \
    type *to = (type *)g->y + first;                                                                              \
    if (stride == 1) FOR_INDICES(g, index_type, first, count, return false, to[i] = from[index])                  \
    else FOR_INDICES(g, index_type, first, count, return false, to[i] = from[index * stride + i * step])          \
  }
  GATHER_TYPES(GATHER_ROW)
  return true;
}

enum { gather_line = 64, gather_short = 1 << 15 };

/* Loads a short row ahead, because a processor does not predict accesses in the order of indices. */
static void gather_prefetch(const ck_gather_elements_args *g, size_t base, size_t count) {
  size_t bytes = g->length * g->element;
  if (g->axis != g->rank - 1 || bytes > gather_short || count < bytes / gather_line) return;
  const char *row = (const char *)g->x + base * g->element;
  for (size_t i = 0; i < bytes; i += gather_line) __builtin_prefetch(row + i);
}

void ck_gather_elements_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_gather_elements_args *g = args;
  size_t last = g->rank - 1, count = g->sizes[last];
  for (size_t item = begin; item < end; item++) {
    size_t rest = item, base = 0;
    for (size_t axis = last; axis-- > 0;) {
      if (axis != g->axis) base += rest % g->sizes[axis] * g->x_strides[axis];
      rest /= g->sizes[axis];
    }
    size_t step = g->axis == last ? 0 : g->x_strides[last];
    gather_prefetch(g, base, count);
    if (!gather_row(g, base, item * count, count, step, g->x_strides[g->axis], g->element)) return;
  }
}

void ck_gather_nd_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_gather_nd_args *g = args;
  for (size_t item = begin; item < end; item++) {
    const char *from = (const char *)g->x + item / g->tuples * g->x_step;
    for (size_t k = 0; k < g->depth; k++) {
      size_t index = index_within(g->fault, g->node, g->index_type, g->indices, item * g->depth + k, g->lengths[k]);
      if (index == g->lengths[k]) return;
      from += index * g->strides[k];
    }
    memcpy((char *)g->y + item * g->inner, from, g->inner);
  }
}
