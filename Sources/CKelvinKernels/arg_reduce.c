#include "ck_kernels.h"

#include <math.h>

static void arg_reduce_store(void *y, size_t element, size_t i, size_t position) {
  switch (element) {
  case 1: ((uint8_t *)y)[i] = (uint8_t)position; break;
  case 2: ((uint16_t *)y)[i] = (uint16_t)position; break;
  case 4: ((uint32_t *)y)[i] = (uint32_t)position; break;
  default: ((uint64_t *)y)[i] = position;
  }
}

void ck_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_arg_reduce_args *a = args;
  size_t chunks = (a->inner + ck_arg_reduce_chunk - 1) / ck_arg_reduce_chunk;
  float sign = a->minimum ? -1 : 1;
  for (size_t item = begin; item < end; item++) {
    size_t outer = item / chunks, first = item % chunks * ck_arg_reduce_chunk;
    size_t count = a->inner - first < ck_arg_reduce_chunk ? a->inner - first : ck_arg_reduce_chunk;
    const float *x = a->x + outer * a->length * a->inner + first;
    float best[ck_arg_reduce_chunk];
    size_t place[ck_arg_reduce_chunk];
    for (size_t i = 0; i < count; i++) {
      best[i] = sign * x[i];
      place[i] = 0;
    }
    for (size_t k = 1; k < a->length; k++) {
      const float *row = x + k * a->inner;
      for (size_t i = 0; i < count; i++) {
        float value = sign * row[i];
        bool unordered = isnan(value), was_unordered = isnan(best[i]);
        bool same = value == best[i] || (unordered && was_unordered);
        bool better = value > best[i] || (unordered && !was_unordered) || (a->takes_last && same);
        best[i] = better ? value : best[i];
        place[i] = better ? k : place[i];
      }
    }
    for (size_t i = 0; i < count; i++)
      arg_reduce_store(a->y, a->element, outer * a->inner + first + i, place[i]);
  }
}
