/* Linear interpolation along the last two axes. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

/* An element with weight zero cannot make a result infinite or NaN. */
CK_INLINE vf resize_mix(vf lower, vf upper, vf share) {
  return vselect(share == vset(0), lower, vmuladd(lower, 1 - share, upper * share));
}

CK_INLINE void resize_mix_rows(const float *lower, const float *upper, float fraction, float *y, size_t width) {
  vf share = vset(fraction);
  size_t i = 0;
  for (; i + CK_LANES <= width; i += CK_LANES)
    vstore(y + i, resize_mix(vload(lower + i), vload(upper + i), share));
  size_t n = width - i;
  if (n) vstore_part(y + i, resize_mix(vload_part(lower + i, n), vload_part(upper + i, n), share), n);
}

#if CK_LANES > 4
/* Loads the elements `indices` of x, which are all between `first` and `last`. If these are close, it loads one or
 * two vectors. */
CK_INLINE vf resize_gather(const float *x, size_t width, size_t first, size_t last, const int32_t *indices) {
#if CK_LANES == 16
  __m512i places = _mm512_loadu_si512(indices);
  if (last - first >= 32) return (vf)_mm512_i32gather_ps(places, x, 4);
  size_t n = width - first;
  vf low = vload_part(x + first, n < 16 ? n : 16);
  vf high = n > 16 ? vload_part(x + first + 16, n < 32 ? n - 16 : 16) : low;
  return (vf)_mm512_permutex2var_ps((__m512)low, _mm512_sub_epi32(places, _mm512_set1_epi32((int)first)), (__m512)high);
#else
  __m256i places = _mm256_loadu_si256((const __m256i *)indices);
  if (last - first >= 8) return (vf)_mm256_i32gather_ps(x, places, 4);
  size_t n = width - first;
  vf all = n < 8 ? vload_part(x + first, n) : vload(x + first);
  return (vf)_mm256_permutevar8x32_ps((__m256)all, _mm256_sub_epi32(places, _mm256_set1_epi32((int)first)));
#endif
}
#endif

CK_INLINE void resize_mix_columns(
  const float *x, size_t width, const ck_interpolation *c, float *y, size_t out_width) {
  size_t i = 0;
  (void)width;
#if CK_LANES > 4
  for (; i + CK_LANES <= out_width; i += CK_LANES) {
    /* Coordinates are monotonic. */
    size_t end = i + CK_LANES - 1, first = (size_t)c->lower[i], last = (size_t)c->upper[end];
    if (c->lower[end] < c->lower[i]) {
      first = (size_t)c->lower[end];
      last = (size_t)c->upper[i];
    }
    vf lower = resize_gather(x, width, first, last, c->lower + i);
    vf upper = resize_gather(x, width, first, last, c->upper + i);
    vstore(y + i, resize_mix(lower, upper, vload(c->fraction + i)));
  }
#endif
  for (; i < out_width; i++) {
    float share = c->fraction[i], lower = x[c->lower[i]];
    y[i] = share == 0 ? lower : lower * (1 - share) + x[c->upper[i]] * share;
  }
}

static void CK_NAME(ck_f32_resize)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_resize_args *r = args;
  for (size_t item = begin; item < end; item++) {
    size_t row = item % r->out_height;
    const float *plane = r->x + item / r->out_height * r->height * r->width;
    float *y = r->y + item * r->out_width;
    const float *mixed = plane + row * r->width;
    if (r->rows.lower) {
      const float *lower = plane + (size_t)r->rows.lower[row] * r->width;
      const float *upper = plane + (size_t)r->rows.upper[row] * r->width;
      float fraction = r->rows.fraction[row];
      if (!r->columns.lower) {
        resize_mix_rows(lower, upper, fraction, y, r->width);
        continue;
      }
      mixed = lower;
      if (fraction != 0) {
        resize_mix_rows(lower, upper, fraction, scratch, r->width);
        mixed = scratch;
      }
    }
    resize_mix_columns(mixed, r->width, &r->columns, y, r->out_width);
  }
}
