/* e^(x - max) over its sum, along the middle of [outer, length, inner]. */
#pragma once
#include "ck_kernels.h"
#include "reduce.h"

/* Computes y = e^(x - max), and returns the sum. `x` and `y` may be the same. */
CK_INLINE float softmax_terms(const float *x, float *y, size_t count) {
  vf shift = vset(reduce_row(ck_reduce_maximum, x, count, 0));
  vf sums = vset(0);
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES) {
    vf term = vexp(vload(x + i) - shift);
    vstore(y + i, term);
    sums += term;
  }
  if (i < count) {
    vf term = vexp(vload_part(x + i, count - i) - shift);
    vstore_part(y + i, term, count - i);
    sums += vfirst(term, count - i, vset(0));
  }
  return vsum(sums);
}

CK_INLINE void softmax_row(const float *x, float *y, size_t count) {
  vf share = vset(1 / softmax_terms(x, y, count));
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES) vstore(y + i, vload(y + i) * share);
  if (i < count) vstore_part(y + i, vload_part(y + i, count - i) * share, count - i);
}

static void CK_NAME(ck_f32_softmax)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_softmax_args *s = args;
  size_t chunks = (s->inner + ck_reduce_chunk - 1) / ck_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    const float *x = s->x + item / chunks * s->length * s->inner;
    float *y = s->y + item / chunks * s->length * s->inner;
    if (s->inner == 1) {
      softmax_row(x, y, s->length);
      continue;
    }
    size_t first = item % chunks * ck_reduce_chunk;
    size_t last = first + ck_reduce_chunk < s->inner ? first + ck_reduce_chunk : s->inner;
    for (size_t i = first; i < last; i += CK_LANES) {
      size_t n = last - i < CK_LANES ? last - i : CK_LANES;
      vf shift = reduce_columns(ck_reduce_maximum, x + i, s->length, s->inner, n, vset(0));
      vf sum = vset(0);
      for (size_t k = 0; k < s->length; k++) {
        vf term = vexp(vload_part(x + k * s->inner + i, n) - shift);
        vstore_part(y + k * s->inner + i, term, n);
        sum += term;
      }
      vf share = 1 / sum;
      for (size_t k = 0; k < s->length; k++)
        vstore_part(y + k * s->inner + i, vload_part(y + k * s->inner + i, n) * share, n);
    }
  }
}
