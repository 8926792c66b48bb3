/* Rotations of pairs of elements. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

#include <string.h>

CK_INLINE void rotary_halves(
  const float *restrict x, const float *restrict cosines, const float *restrict sines, float *restrict y, size_t half) {
  for (size_t i = 0; i < half; i++) {
    float a = x[i], b = x[half + i];
    y[i] = a * cosines[i] - b * sines[i];
    y[half + i] = a * sines[i] + b * cosines[i];
  }
}

CK_INLINE void rotary_neighbors(
  const float *restrict x, const float *restrict cosines, const float *restrict sines, float *restrict y, size_t half) {
  for (size_t i = 0; i < half; i++) {
    float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = a * cosines[i] - b * sines[i];
    y[2 * i + 1] = a * sines[i] + b * cosines[i];
  }
}

static void CK_NAME(ck_f32_rotary_embedding)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_rotary_embedding_args *r = args;
  size_t last = r->rank - 1, rows = r->sizes[last], half = r->width / 2;
  for (size_t item = begin; item < end; item++) {
    const float *cosines = r->cosines, *sines = r->sines;
    size_t rest = item;
    for (size_t axis = last; axis-- > 0; rest /= r->sizes[axis]) {
      cosines += rest % r->sizes[axis] * r->cosine_strides[axis];
      sines += rest % r->sizes[axis] * r->sine_strides[axis];
    }
    for (size_t row = 0; row < rows; row++) {
      const float *x = r->x + (item * rows + row) * r->length;
      float *y = r->y + (item * rows + row) * r->length;
      const float *c = cosines + row * r->cosine_strides[last], *s = sines + row * r->sine_strides[last];
      if (r->interleaved) rotary_neighbors(x, c, s, y, half);
      else rotary_halves(x, c, s, y, half);
      memcpy(y + r->width, x + r->width, (r->length - r->width) * sizeof *y);
    }
  }
}
