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
    if (reduction == ck_scatter_add) {
      for (size_t i = 0; i < count; i++) ((float *)y)[to + i] += ((const float *)updates)[from + i];
      return;
    }
    for (size_t i = 0; i < count; i++)
      ((float *)y)[to + i] = scatter_float(reduction, ((float *)y)[to + i], ((const float *)updates)[from + i]);
  }
}

/* The loops of frequent reductions, types and indices, and one for all others. */
#define SCATTER_ROW(index_type, place, write)                                                                     \
  FOR_INDICES(s, index_type, first, count, if (s->fault) return false, {                                          \
    size_t to = place;                                                                                            \
    write;                                                                                                        \
  })
#define SCATTER_TYPED(place, write)                                                                               \
  {                                                                                                               \
    if (s->index_type == ck_int64) SCATTER_ROW(ck_int64, place, write)                                            \
    else if (s->index_type == ck_int32) SCATTER_ROW(ck_int32, place, write)                                       \
    else SCATTER_ROW(s->index_type, place, write)                                                                 \
    return true;                                                                                                  \
  }
#define SCATTER_COPIED(type, place)                                                                               \
  {                                                                                                               \
    type *y = (type *)s->y + base;                                                                                \
    const type *from = (const type *)s->updates + first;                                                          \
    SCATTER_TYPED(place, y[to] = from[i])                                                                         \
  }

/* Scatters the updates of one row from `first` on, to the row of y at `base`. Returns whether it may continue. */
static bool scatter_row(const ck_scatter_elements_args *s, size_t base, size_t first) {
  size_t last = s->rank - 1, count = s->sizes[last], stride = s->y_strides[s->axis];
  size_t step = s->axis == last ? 0 : s->y_strides[last];
  if (s->reduction == ck_scatter_replace && typed_size(s->type) == 4) {
    if (stride == 1) SCATTER_COPIED(uint32_t, index)
    SCATTER_COPIED(uint32_t, index * stride + i * step)
  }
  if (s->reduction == ck_scatter_replace && typed_size(s->type) == 8) SCATTER_COPIED(uint64_t, index * stride + i * step)
  if (s->reduction == ck_scatter_add && s->type == ck_float32)
    SCATTER_TYPED(
      base + index * stride + i * step, ((float *)s->y)[to] += ((const float *)s->updates)[first + i])
  SCATTER_TYPED(
    base + index * stride + i * step, scatter_span(s->reduction, s->type, s->updates, first + i, s->y, to, 1))
}

void ck_scatter_elements_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_scatter_elements_args *s = args;
  size_t rows = 1, last = s->rank - 1, count = s->sizes[last];
  for (size_t axis = s->axis; axis < last; axis++) rows *= s->sizes[axis];
  if (s->axis == last) rows = 1;
  for (size_t row = begin * rows; row < end * rows; row++) {
    size_t rest = row, base = 0;
    for (size_t axis = last; axis-- > 0;) {
      if (axis != s->axis) base += rest % s->sizes[axis] * s->y_strides[axis];
      rest /= s->sizes[axis];
    }
    if (!scatter_row(s, base, row * count)) return;
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
