/* Windows of each channel on blocks of channels: depthwise convolution and pooling. Nothing is copied: taps outside of
 * the image are left out. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

enum { blocked_window_pixels = 8, blocked_depthwise, blocked_maximum, blocked_average };

/* Taps along one axis that lie in the image, and the output positions all of whose taps do. */
typedef struct {
  ptrdiff_t size, kernel, stride, dilation, before;
} blocked_axis;

CK_INLINE ptrdiff_t blocked_least(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }
CK_INLINE ptrdiff_t blocked_most(ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; }

CK_INLINE ptrdiff_t blocked_first_tap(const blocked_axis *a, ptrdiff_t start) {
  return start >= 0 ? 0 : blocked_least(a->kernel, (-start + a->dilation - 1) / a->dilation);
}

CK_INLINE ptrdiff_t blocked_last_tap(const blocked_axis *a, ptrdiff_t start) {
  return start >= a->size ? 0 : blocked_least(a->kernel, (a->size - start + a->dilation - 1) / a->dilation);
}

/* `pixels` neighbouring outputs that share the taps `first` to `last` along the row. */
CK_INLINE void blocked_window_tile(
  const ck_blocked_window_args *p, const int function, const float *x, const float *w, float *y, const float *residual,
  vf bias, const size_t pixels, const ptrdiff_t stride, ptrdiff_t row_first, ptrdiff_t row_last, ptrdiff_t first,
  ptrdiff_t last, vf count) {
  const ck_window *window = &p->window;
  vf sums[blocked_window_pixels];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) sums[i] = function == blocked_maximum ? vset(-INFINITY) : bias;
  for (ptrdiff_t ky = row_first; ky < row_last; ky++) {
    const float *line = x + ky * (ptrdiff_t)(window->dilation_y * window->width) * CK_LANES;
    for (ptrdiff_t kx = first; kx < last; kx++) {
      const float *from = line + kx * (ptrdiff_t)window->dilation_x * CK_LANES;
      vf tap = function == blocked_depthwise ? vload(w + (ky * (ptrdiff_t)window->kernel_width + kx) * CK_LANES) : bias;
#pragma clang loop unroll(full)
      for (size_t i = 0; i < pixels; i++) {
        vf value = vload(from + (ptrdiff_t)i * stride * CK_LANES);
        sums[i] = function == blocked_depthwise ? vmuladd(tap, value, sums[i])
          : function == blocked_maximum         ? vlarger(sums[i], value)
                                                : sums[i] + value;
      }
    }
  }
  vf lower = vset(p->epilogue.lower), upper = vset(p->epilogue.upper);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) {
    vf sum = sums[i];
    if (function == blocked_average) sum /= count;
    if (function == blocked_depthwise) {
      if (residual) sum += vload(residual + i * CK_LANES);
      sum = vatmost(vatleast(sum, lower), upper);
    }
    vstore(y + i * CK_LANES, sum);
  }
}

CK_INLINE void blocked_window_run(
  const ck_blocked_window_args *p, const int function, const ptrdiff_t fixed_stride, size_t begin, size_t end) {
  const ck_window *w = &p->window;
  ptrdiff_t stride = fixed_stride ? fixed_stride : (ptrdiff_t)w->stride_x;
  blocked_axis rows = {
    (ptrdiff_t)w->height, (ptrdiff_t)w->kernel_height, (ptrdiff_t)w->stride_y, (ptrdiff_t)w->dilation_y,
    (ptrdiff_t)w->before_y};
  blocked_axis columns = {
    (ptrdiff_t)w->width, (ptrdiff_t)w->kernel_width, stride, (ptrdiff_t)w->dilation_x, (ptrdiff_t)w->before_x};
  size_t blocks = (p->channels + CK_LANES - 1) / CK_LANES, bands = (w->out_height + p->band - 1) / p->band;
  ptrdiff_t width = (ptrdiff_t)w->out_width, reach = (columns.kernel - 1) * columns.dilation;
  ptrdiff_t inner = blocked_least(width, (columns.before + stride - 1) / stride);
  ptrdiff_t outer = columns.size + columns.before - reach;
  outer = blocked_most(inner, outer <= 0 ? 0 : blocked_least(width, (outer + stride - 1) / stride));
  for (size_t item = begin; item < end; item++) {
    size_t plane = item / bands, block = plane % blocks, first_row = item % bands * p->band;
    const float *x = p->x + plane * w->height * w->width * CK_LANES;
    const float *weights =
      function == blocked_depthwise ? p->weights + block * w->kernel_height * w->kernel_width * CK_LANES : NULL;
    vf bias = vset(0);
    if (p->epilogue.row_bias) {
      size_t left = p->channels - block * CK_LANES;
      bias = vload_part(p->epilogue.row_bias + block * CK_LANES, left < CK_LANES ? left : CK_LANES);
    }
    for (size_t row = first_row; row < first_row + p->band && row < w->out_height; row++) {
      ptrdiff_t top = (ptrdiff_t)row * rows.stride - rows.before;
      ptrdiff_t row_first = blocked_first_tap(&rows, top), row_last = blocked_last_tap(&rows, top);
      size_t at = (plane * w->out_height + row) * w->out_width * CK_LANES;
      const float *line = x + top * (ptrdiff_t)w->width * CK_LANES;
      float *y = p->y + at;
      const float *residual = p->epilogue.residual ? p->epilogue.residual + at : NULL;
#define CK_BLOCKED_WINDOW_TILE(pixels, column, first, last)                                                      \
  blocked_window_tile(                                                                                           \
    p, function, line + ((column)*stride - columns.before) * CK_LANES, weights, y + (column)*CK_LANES,           \
    residual ? residual + (column)*CK_LANES : NULL, bias, pixels, stride, row_first, row_last, first, last,      \
    vset(function == blocked_average ? p->row_counts[row] * p->column_counts[column] : 1))
      ptrdiff_t column = 0;
      for (; column < inner; column++) {
        ptrdiff_t start = column * stride - columns.before;
        CK_BLOCKED_WINDOW_TILE(1, column, blocked_first_tap(&columns, start), blocked_last_tap(&columns, start));
      }
      for (; column + blocked_window_pixels <= outer; column += blocked_window_pixels)
        CK_BLOCKED_WINDOW_TILE(blocked_window_pixels, column, 0, columns.kernel);
      for (; column + 4 <= outer; column += 4) CK_BLOCKED_WINDOW_TILE(4, column, 0, columns.kernel);
      for (; column < width; column++) {
        ptrdiff_t start = column * stride - columns.before;
        CK_BLOCKED_WINDOW_TILE(1, column, blocked_first_tap(&columns, start), blocked_last_tap(&columns, start));
      }
      if (p->epilogue.map)
        p->epilogue.map(y, y, w->out_width * CK_LANES, p->epilogue.map_a, p->epilogue.map_b);
    }
  }
}

#define CK_BLOCKED_WINDOW(name, function, stride)                                                           \
  static void CK_NAME(ck_f32_blocked_##name)(const void *args, size_t begin, size_t end, void *scratch) {   \
    (void)scratch;                                                                                          \
    blocked_window_run(args, function, stride, begin, end);                                                 \
  }
CK_BLOCKED_WINDOW(depthwise_s1, blocked_depthwise, 1)
CK_BLOCKED_WINDOW(depthwise_s2, blocked_depthwise, 2)
CK_BLOCKED_WINDOW(depthwise_any, blocked_depthwise, 0)
CK_BLOCKED_WINDOW(maximum, blocked_maximum, 0)
CK_BLOCKED_WINDOW(average, blocked_average, 0)

static void CK_NAME(ck_f32_blocked_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_window_args *p = args;
  ck_run run = p->window.stride_x == 1 ? CK_NAME(ck_f32_blocked_depthwise_s1)
    : p->window.stride_x == 2          ? CK_NAME(ck_f32_blocked_depthwise_s2)
                                       : CK_NAME(ck_f32_blocked_depthwise_any);
  run(args, begin, end, scratch);
}

static void CK_NAME(ck_f32_blocked_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_window_args *p = args;
  ck_run run = p->function == ck_pool_maximum ? CK_NAME(ck_f32_blocked_maximum) : CK_NAME(ck_f32_blocked_average);
  run(args, begin, end, scratch);
}
