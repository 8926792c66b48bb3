/* Elements divided by a power of the sum of squares of their neighbours in other channels. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"
#include "vmath.h"

CK_INLINE vf response_square_sum(
  const ck_response_normalization_args *r, const float *plane, size_t channel, size_t n) {
  size_t first = channel < r->before ? 0 : channel - r->before;
  size_t last = channel + r->after < r->channels ? channel + r->after : r->channels - 1;
  vf sum = vset(0);
  for (size_t c = first; c <= last; c++) {
    vf x = vload_part(plane + c * r->inner, n);
    sum = vmuladd(x, x, sum);
  }
  return sum;
}

static void CK_NAME(ck_f32_response_normalization)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_response_normalization_args *r = args;
  size_t chunks = (r->inner + ck_reduce_chunk - 1) / ck_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_reduce_chunk, image = item / chunks * r->channels * r->inner;
    size_t stop = first + ck_reduce_chunk < r->inner ? first + ck_reduce_chunk : r->inner;
    for (size_t i = first; i < stop; i += CK_LANES) {
      size_t n = stop - i < CK_LANES ? stop - i : CK_LANES;
      for (size_t channel = 0; channel < r->channels; channel++) {
        size_t at = image + channel * r->inner + i;
        vf base = vmuladd(response_square_sum(r, r->x + image + i, channel, n), vset(r->factor), vset(r->k));
        vf power = vexp(vlog(base) * vset(-r->beta));
        vstore_part(r->y + at, vload_part(r->x + at, n) * power, n);
      }
    }
  }
}
