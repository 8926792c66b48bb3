#include "ck_gather.h"
#include "fault.h"

#include <math.h>
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

void ck_pick_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_pick_args *p = args;
  for (size_t item = begin; item < end; item++) {
    size_t row = item % p->out_height;
    size_t from = (item / p->out_height * p->height + (p->rows ? p->rows[row] : row)) * p->width;
    size_t to = item * p->out_width;
    if (!p->columns) {
      memcpy((char *)p->y + to * p->element, (const char *)p->x + from * p->element, p->width * p->element);
      continue;
    }
    switch (p->element) {
#define PICK(size, type)                                                                                              \
  case size:                                                                                                          \
    for (size_t j = 0; j < p->out_width; j++) ((type *)p->y)[to + j] = ((const type *)p->x)[from + p->columns[j]];    \
    break;
      PICK(1, uint8_t)
      PICK(2, uint16_t)
      PICK(4, uint32_t)
      PICK(8, uint64_t)
    default: break;
    }
  }
}
