/* The part of a row of windows that is inside the image. */
#pragma once
#include "ck_kernels.h"

/* The elements from `before` to `end` of `count` elements of row `y`, from column `x` by the stride, that are inside
 * the image. */
typedef struct {
  ptrdiff_t before, end;
} window_span;

static inline window_span window_inside(const ck_window *w, ptrdiff_t y, ptrdiff_t x, ptrdiff_t count) {
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x;
  ptrdiff_t before = x >= 0 ? 0 : (-x + stride - 1) / stride;
  ptrdiff_t end = x >= width ? 0 : (width - x + stride - 1) / stride;
  if (y < 0 || y >= (ptrdiff_t)w->height) end = 0;
  if (end > count) end = count;
  return (window_span){before > end ? end : before, end};
}
