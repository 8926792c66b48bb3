/* The largest element or the mean of each window. */
#pragma once
#include "ck_kernels.h"
#include "window.h"

CK_INLINE void window_pool_row(
  const ck_window_pool_args *p, const window_bands *bands, const float *band, size_t row, float *y,
  const ck_pool_function function) {
  const ck_window *w = &p->window;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    vf result = vset(function == ck_pool_maximum ? -INFINITY : 0);
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++) {
        size_t column = kx * w->dilation_x;
        vf value = vload(
          band + ky * w->dilation_y * bands->row + column % w->stride_x * bands->pitch + column / w->stride_x + x);
        result = function == ck_pool_maximum ? vlarger(result, value) : result + value;
      }
    size_t n = w->out_width - x < CK_LANES ? w->out_width - x : CK_LANES;
    if (function == ck_pool_average) result /= vset(p->row_counts[row]) * vload_part(p->column_counts + x, n);
    vstore_part(y + x, result, n);
  }
}

static void CK_NAME(ck_f32_window_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_window_pool_args *p = args;
  const ck_window *w = &p->window;
  window_bands bands = window_plan(w);
  bool largest = p->function == ck_pool_maximum;
  for (size_t plane = begin; plane < end; plane++) {
    float *y = p->y + plane * w->out_height * w->out_width;
    for (size_t first = 0; first < w->out_height; first += bands.out_rows) {
      size_t count = w->out_height - first < bands.out_rows ? w->out_height - first : bands.out_rows;
      window_fill(
        w, &bands, p->x + plane * w->height * w->width, first, count, largest ? -INFINITY : 0, scratch);
      for (size_t row = 0; row < count; row++) {
        const float *band = (const float *)scratch + row * w->stride_y * bands.row;
        float *to = y + (first + row) * w->out_width;
        if (largest) window_pool_row(p, &bands, band, first + row, to, ck_pool_maximum);
        else window_pool_row(p, &bands, band, first + row, to, ck_pool_average);
      }
    }
  }
}
