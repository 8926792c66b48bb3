#include "ck_kernels.h"

#include <string.h>

#define COPY_INNER(type)                                                                     \
  static void copy_inner_##type(                                                             \
    const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, size_t count) { \
    const type *from = source;                                                               \
    type *to = target;                                                                       \
    if (source_stride == 0 && target_stride == 1)                                            \
      for (size_t i = 0; i < count; i++) to[i] = *from;                                      \
    else                                                                                     \
      for (size_t i = 0; i < count; i++, from += source_stride, to += target_stride) *to = *from; \
  }

COPY_INNER(uint8_t)
COPY_INNER(uint16_t)
COPY_INNER(uint32_t)
COPY_INNER(uint64_t)

static void copy_inner(const ck_copy_args *c, const char *from, char *to) {
  size_t last = c->rank - 1, count = c->sizes[last];
  ptrdiff_t source_stride = c->source_strides[last], target_stride = c->target_strides[last];
  if (source_stride == 1 && target_stride == 1) {
    memcpy(to, from, count * c->element);
    return;
  }
  switch (c->element) {
  case 1: copy_inner_uint8_t(from, source_stride, to, target_stride, count); break;
  case 2: copy_inner_uint16_t(from, source_stride, to, target_stride, count); break;
  case 4: copy_inner_uint32_t(from, source_stride, to, target_stride, count); break;
  default: copy_inner_uint64_t(from, source_stride, to, target_stride, count); break;
  }
}

void ck_copy_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_copy_args *c = args;
  for (size_t item = begin; item < end; item++) {
    ptrdiff_t source = 0, target = 0;
    size_t rest = item;
    for (size_t axis = c->rank - 1; axis-- > 0;) {
      ptrdiff_t index = (ptrdiff_t)(rest % c->sizes[axis]);
      rest /= c->sizes[axis];
      source += index * c->source_strides[axis];
      target += index * c->target_strides[axis];
    }
    ptrdiff_t element = (ptrdiff_t)c->element;
    copy_inner(c, (const char *)c->source + source * element, (char *)c->target + target * element);
  }
}

void ck_fill_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_fill_args *f = args;
  size_t first = begin * ck_map_chunk, last = end * ck_map_chunk < f->count ? end * ck_map_chunk : f->count;
  ck_copy_args copy = {
    .source = &f->value,
    .target = (char *)f->target + first * f->element,
    .element = f->element,
    .rank = 1,
    .sizes = {last - first},
    .target_strides = {1},
  };
  ck_copy_run(&copy, 0, 1, 0);
}
