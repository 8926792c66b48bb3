#include "ck_gather.h"
#include "fault.h"

#include <string.h>

static inline void copy_element(const void *x, size_t from, void *y, size_t to, size_t element) {
  switch (element) {
  case 1: ((uint8_t *)y)[to] = ((const uint8_t *)x)[from]; break;
  case 2: ((uint16_t *)y)[to] = ((const uint16_t *)x)[from]; break;
  case 4: ((uint32_t *)y)[to] = ((const uint32_t *)x)[from]; break;
  default: ((uint64_t *)y)[to] = ((const uint64_t *)x)[from];
  }
}

void ck_gather_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_gather_args *g = args;
  for (size_t item = begin; item < end; item++) {
    size_t index = index_within(g->fault, g->node, g->index_type, g->indices, item % g->picked, g->length);
    if (index == g->length) return;
    const char *from = (const char *)g->x + (item / g->picked * g->length + index) * g->inner;
    memcpy((char *)g->y + item * g->inner, from, g->inner);
  }
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
    for (size_t i = 0; i < count; i++) {
      size_t index = index_within(g->fault, g->node, g->index_type, g->indices, item * count + i, g->length);
      if (index == g->length) return;
      size_t from = base + index * g->x_strides[g->axis] + (g->axis == last ? 0 : i * g->x_strides[last]);
      copy_element(g->x, from, g->y, item * count + i, g->element);
    }
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
