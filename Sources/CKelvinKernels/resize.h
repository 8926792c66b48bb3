/* Linear interpolation along the last two axes. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

CK_INLINE void resize_mix_rows(const float *lower, const float *upper, float fraction, float *y, size_t width) {
  vf weight = vset(fraction), rest = vset(1 - fraction);
  size_t i = 0;
  for (; i + CK_LANES <= width; i += CK_LANES)
    vstore(y + i, vmuladd(vload(lower + i), rest, vload(upper + i) * weight));
  size_t n = width - i;
  if (n) vstore_part(y + i, vmuladd(vload_part(lower + i, n), rest, vload_part(upper + i, n) * weight), n);
}

CK_INLINE void resize_mix_columns(const float *x, const ck_interpolation *c, float *y, size_t width) {
  size_t i = 0;
#if CK_LANES == 16
  for (; i + 16 <= width; i += 16) {
    vf lower = (vf)_mm512_i32gather_ps(_mm512_loadu_si512(c->lower + i), x, 4);
    vf upper = (vf)_mm512_i32gather_ps(_mm512_loadu_si512(c->upper + i), x, 4);
    vf weight = vload(c->fraction + i);
    vstore(y + i, vmuladd(lower, 1 - weight, upper * weight));
  }
#elif CK_LANES == 8
  for (; i + 8 <= width; i += 8) {
    vf lower = (vf)_mm256_i32gather_ps(x, _mm256_loadu_si256((const __m256i *)(c->lower + i)), 4);
    vf upper = (vf)_mm256_i32gather_ps(x, _mm256_loadu_si256((const __m256i *)(c->upper + i)), 4);
    vf weight = vload(c->fraction + i);
    vstore(y + i, vmuladd(lower, 1 - weight, upper * weight));
  }
#endif
  for (; i < width; i++) {
    float weight = c->fraction[i];
    y[i] = x[c->lower[i]] * (1 - weight) + x[c->upper[i]] * weight;
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
    resize_mix_columns(mixed, &r->columns, y, r->out_width);
  }
}
