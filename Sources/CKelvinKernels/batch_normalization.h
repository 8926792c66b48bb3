/* (x - mean) * scale + shift, plane by plane or block by block. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

/* The statistic of a plane in every lane, or the statistics of a block. */
CK_INLINE vf statistic(const float *of, size_t channel, bool is_blocked) {
  return is_blocked ? vload(of + channel * CK_LANES) : vset(of[channel]);
}

static void CK_NAME(ck_f32_batch_normalization)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_batch_normalization_args *b = args;
  for (size_t item = begin; item < end; item++) {
    size_t channel = item % b->channels;
    vf mean = statistic(b->mean, channel, b->is_blocked);
    vf scale = statistic(b->scale, channel, b->is_blocked);
    vf shift = statistic(b->shift, channel, b->is_blocked);
    const float *x = b->x + item * b->inner;
    float *y = b->y + item * b->inner;
    size_t i = 0;
    for (; i + CK_LANES <= b->inner; i += CK_LANES) vstore(y + i, vmuladd(vload(x + i) - mean, scale, shift));
    size_t n = b->inner - i;
    if (n) vstore_part(y + i, vmuladd(vload_part(x + i, n) - mean, scale, shift), n);
  }
}
