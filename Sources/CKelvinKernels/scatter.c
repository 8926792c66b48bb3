#include "ck_scatter.h"
#include "fault.h"

#include <math.h>
#include <string.h>

static float scatter_float(ck_scatter reduction, float y, float update) {
  switch (reduction) {
  case ck_scatter_add: return y + update;
  case ck_scatter_multiply: return y * update;
  case ck_scatter_minimum: return isnan(y) || y < update ? y : update;
  default: return isnan(y) || y > update ? y : update;
  }
}

static int64_t scatter_integer(ck_scatter reduction, int64_t y, int64_t update) {
  switch (reduction) {
  case ck_scatter_add: return (int64_t)((uint64_t)y + (uint64_t)update);
  case ck_scatter_multiply: return (int64_t)((uint64_t)y * (uint64_t)update);
  case ck_scatter_minimum: return y < update ? y : update;
  default: return y > update ? y : update;
  }
}

static void scatter_span(
  ck_scatter reduction, ck_scalar type, const void *updates, size_t from, void *y, size_t to, size_t count) {
  if (reduction == ck_scatter_replace) {
    size_t size = typed_size(type);
    memcpy((char *)y + to * size, (const char *)updates + from * size, count * size);
    return;
  }
  switch (type) {
#define SCATTER_INTEGERS(name, number)                                                                    \
  case number:                                                                                            \
    for (size_t i = 0; i < count; i++)                                                                    \
      ((name *)y)[to + i] =                                                                               \
        (name)scatter_integer(reduction, ((name *)y)[to + i], ((const name *)updates)[from + i]);         \
    break;
    CK_INTEGER_TYPES(SCATTER_INTEGERS)
  default:
    for (size_t i = 0; i < count; i++)
      ((float *)y)[to + i] = scatter_float(reduction, ((float *)y)[to + i], ((const float *)updates)[from + i]);
  }
}

void ck_scatter_elements_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_scatter_elements_args *s = args;
  size_t count = 1;
  for (size_t axis = s->axis; axis < s->rank; axis++) count *= s->sizes[axis];
  for (size_t update = begin * count; update < end * count; update++) {
    size_t rest = update, to = 0;
    size_t index = index_within(s->fault, s->node, s->index_type, s->indices, update, s->length);
    if (index == s->length && s->fault) return;
    if (index == s->length) continue;
    for (size_t axis = s->rank; axis-- > 0;) {
      to += (axis == s->axis ? index : rest % s->sizes[axis]) * s->y_strides[axis];
      rest /= s->sizes[axis];
    }
    scatter_span(s->reduction, s->type, s->updates, update, s->y, to, 1);
  }
}

void ck_scatter_nd_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_scatter_nd_args *s = args;
  size_t first = begin * ck_map_chunk, last = end * ck_map_chunk < s->inner ? end * ck_map_chunk : s->inner;
  for (size_t tuple = 0; tuple < s->tuples; tuple++) {
    size_t to = 0;
    bool is_inside = true;
    for (size_t k = 0; k < s->depth && is_inside; k++) {
      size_t index = index_within(s->fault, s->node, s->index_type, s->indices, tuple * s->depth + k, s->lengths[k]);
      is_inside = index < s->lengths[k];
      to += index * s->strides[k];
    }
    if (!is_inside && s->fault) return;
    if (!is_inside) continue;
    scatter_span(s->reduction, s->type, s->updates, tuple * s->inner + first, s->y, to + first, last - first);
  }
}
