#include "ck_update_cache.h"

#include <string.h>

void ck_update_cache_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_update_cache_args *c = args;
  for (size_t item = begin; item < end; item++) {
    size_t own = item % c->count, plane = item / c->count, head = plane % c->heads, batch = plane / c->heads;
    int64_t length = c->are_wide ? ((const int64_t *)c->lengths)[batch] : ((const int32_t *)c->lengths)[batch];
    int64_t shift = c->first + (int64_t)own;
    if (length < -shift || length >= (int64_t)c->length - shift) continue;
    const float *from = c->rows + batch * c->strides[0] + head * c->strides[1] + own * c->strides[2];
    float *to = c->cache + (plane * c->length + (size_t)(length + shift)) * c->width;
    if (c->strides[3] == 1) {
      memcpy(to, from, c->width * sizeof *to);
      continue;
    }
    for (size_t i = 0; i < c->width; i++) to[i] = from[i * c->strides[3]];
  }
}
