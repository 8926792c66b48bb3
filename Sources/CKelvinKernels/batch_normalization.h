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
  size_t count = b->planes * b->inner, last = end * ck_strip < count ? end * ck_strip : count;
  for (size_t at = begin * ck_strip; at < last;) {
    size_t plane = at / b->inner, channel = plane % b->channels, next = (plane + 1) * b->inner, i = 0;
    vf mean = statistic(b->mean, channel, b->is_blocked);
    vf scale = statistic(b->scale, channel, b->is_blocked);
    vf shift = statistic(b->shift, channel, b->is_blocked);
    size_t n = (next < last ? next : last) - at;
    const float *x = b->x + at;
    float *y = b->y + at;
    for (; i + CK_LANES <= n; i += CK_LANES) vstore(y + i, vmuladd(vload(x + i) - mean, scale, shift));
    if (i < n) vstore_part(y + i, vmuladd(vload_part(x + i, n - i) - mean, scale, shift), n - i);
    at += n;
  }
}
