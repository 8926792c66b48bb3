/* Depthwise convolution: every output channel reads one input channel. */
#pragma once
#include "ck_kernels.h"
#include "window.h"

/* `out_rows` rows of one plane from the band that `window_fill` left at `band`. Sizes known while compiling unroll. */
CK_INLINE void depthwise_rows(
  const ck_depthwise_args *d, const window_bands *bands, const float *band, const float *weights, float bias,
  size_t offset, const size_t out_rows, const size_t height, const size_t width, const size_t stride) {
  const ck_window *w = &d->window;
  const ck_epilogue *e = &d->epilogue;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    vf sums[4];
#pragma clang loop unroll(full)
    for (size_t r = 0; r < out_rows; r++) sums[r] = vset(bias);
#pragma clang loop unroll(full)
    for (size_t y = 0; y < (out_rows - 1) * stride + height; y++) {
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < width; kx++) {
        vf value = vload(band + y * bands->row + kx % stride * bands->pitch + kx / stride + x);
#pragma clang loop unroll(full)
        for (size_t r = 0; r < out_rows; r++) {
          size_t ky = y - r * stride;
          if (y >= r * stride && ky < height) sums[r] = vmuladd(vset(weights[ky * width + kx]), value, sums[r]);
        }
      }
    }
    size_t n = w->out_width - x < CK_LANES ? w->out_width - x : CK_LANES;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < out_rows; r++) {
      size_t at = offset + r * w->out_width + x;
      vf sum = sums[r];
      if (e->residual) sum += vload_part(e->residual + at, n);
      vstore_part(d->y + at, vatmost(vatleast(sum, vset(e->lower)), vset(e->upper)), n);
    }
  }
}

CK_INLINE void depthwise_any_row(
  const ck_depthwise_args *d, const window_bands *bands, const float *band, const float *weights, float bias,
  size_t offset) {
  const ck_window *w = &d->window;
  const ck_epilogue *e = &d->epilogue;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    vf sum = vset(bias);
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++) {
        size_t column = kx * w->dilation_x;
        const float *from =
          band + ky * w->dilation_y * bands->row + column % w->stride_x * bands->pitch + column / w->stride_x + x;
        sum = vmuladd(vset(weights[ky * w->kernel_width + kx]), vload(from), sum);
      }
    size_t n = w->out_width - x < CK_LANES ? w->out_width - x : CK_LANES;
    if (e->residual) sum += vload_part(e->residual + offset + x, n);
    vstore_part(d->y + offset + x, vatmost(vatleast(sum, vset(e->lower)), vset(e->upper)), n);
  }
}

typedef void (*depthwise_band)(
  const ck_depthwise_args *d, const window_bands *bands, const float *band, const float *weights, float bias,
  size_t offset, size_t count);

#define CK_DEPTHWISE(height, width, stride)                                                                       \
  static void CK_NAME(ck_f32_depthwise_##height##x##width##s##stride)(                                            \
    const ck_depthwise_args *d, const window_bands *bands, const float *band, const float *weights, float bias,   \
    size_t offset, size_t count) {                                                                                \
    size_t row = 0;                                                                                               \
    for (; row + 4 <= count; row += 4)                                                                            \
      depthwise_rows(                                                                                             \
        d, bands, band + row * stride * bands->row, weights, bias, offset + row * d->window.out_width, 4, height, \
        width, stride);                                                                                           \
    for (; row < count; row++)                                                                                    \
      depthwise_rows(                                                                                             \
        d, bands, band + row * stride * bands->row, weights, bias, offset + row * d->window.out_width, 1, height, \
        width, stride);                                                                                           \
  }

CK_DEPTHWISE(3, 3, 1)
CK_DEPTHWISE(3, 3, 2)
CK_DEPTHWISE(5, 5, 1)
CK_DEPTHWISE(5, 5, 2)

static void CK_NAME(ck_f32_depthwise_any)(
  const ck_depthwise_args *d, const window_bands *bands, const float *band, const float *weights, float bias,
  size_t offset, size_t count) {
  for (size_t row = 0; row < count; row++)
    depthwise_any_row(
      d, bands, band + row * d->window.stride_y * bands->row, weights, bias, offset + row * d->window.out_width);
}

static depthwise_band depthwise_choose(const ck_window *w) {
  bool square = w->kernel_height == w->kernel_width && w->stride_y == w->stride_x && w->stride_x <= 2 &&
    w->dilation_y == 1 && w->dilation_x == 1;
  if (square && w->kernel_width == 3)
    return w->stride_x == 1 ? CK_NAME(ck_f32_depthwise_3x3s1) : CK_NAME(ck_f32_depthwise_3x3s2);
  if (square && w->kernel_width == 5)
    return w->stride_x == 1 ? CK_NAME(ck_f32_depthwise_5x5s1) : CK_NAME(ck_f32_depthwise_5x5s2);
  return CK_NAME(ck_f32_depthwise_any);
}

static void CK_NAME(ck_f32_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_depthwise_args *d = args;
  const ck_window *w = &d->window;
  window_bands bands = window_plan(w);
  depthwise_band run = depthwise_choose(w);
  size_t multiplier = d->out_channels / d->in_channels, out_area = w->out_height * w->out_width;
  for (size_t item = begin; item < end; item++) {
    size_t image = item / d->out_channels, channel = item % d->out_channels;
    const float *plane = d->x + (image * d->in_channels + channel / multiplier) * w->height * w->width;
    const float *weights = d->weights + channel * w->kernel_height * w->kernel_width;
    float bias = d->epilogue.row_bias ? d->epilogue.row_bias[channel] : 0;
    for (size_t row = 0; row < w->out_height; row += bands.out_rows) {
      size_t count = w->out_height - row < bands.out_rows ? w->out_height - row : bands.out_rows;
      window_fill(w, &bands, plane, row, count, 0, scratch);
      run(d, &bands, scratch, weights, bias, item * out_area + row * w->out_width, count);
    }
    float *y = d->y + item * out_area;
    if (d->epilogue.map) d->epilogue.map(y, y, out_area, d->epilogue.map_a, d->epilogue.map_b);
  }
}
