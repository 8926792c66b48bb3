/* Depthwise convolution: every output channel reads one input channel. */
#pragma once
#include "ck_kernels.h"
#include "window.h"

/* The operands of one plane. Results go to `y`. */
typedef struct {
  const ck_window *window;
  const ck_epilogue *epilogue;
  const float *x, *weights, *residual;
  float *y;
  float bias;
} depthwise_plane;

/* Computes `out_rows` rows from row `row` on of the vector of columns at `column`. Rows and columns of padding are
 * not read: `masks` excludes the columns. Loops over sizes known at compile time are unrolled. */
CK_INLINE void depthwise_block(
  const depthwise_plane *p, const vmask *masks, size_t row, size_t column, const size_t out_rows, const size_t size,
  const size_t stride) {
  const ck_window *w = p->window;
  const ck_epilogue *e = p->epilogue;
  vf sums[4];
#pragma clang loop unroll(full)
  for (size_t r = 0; r < out_rows; r++) sums[r] = vset(p->bias);
  ptrdiff_t first = (ptrdiff_t)(row * stride) - (ptrdiff_t)w->before_y;
  const float *x = p->x + (ptrdiff_t)(column * stride) - (ptrdiff_t)w->before_x + first * (ptrdiff_t)w->width;
#pragma clang loop unroll(full)
  for (size_t y = 0; y < (out_rows - 1) * stride + size; y++, x += w->width) {
    if ((size_t)(first + (ptrdiff_t)y) >= w->height) continue;
    vf taps[5];
    if (stride == 1) {
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < size; kx++) taps[kx] = vload_masked(x + kx, masks[kx]);
    } else {
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < size; kx += 2) {
        vf left = vload_masked(x + kx, masks[kx]), right = vload_masked(x + kx + CK_LANES, masks[kx + 1]);
        taps[kx] = veven(left, right);
        if (kx + 1 < size) taps[kx + 1] = vodd(left, right);
      }
    }
#pragma clang loop unroll(full)
    for (size_t r = 0; r < out_rows; r++) {
      size_t ky = y - r * stride;
      if (y < r * stride || ky >= size) continue;
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < size; kx++) sums[r] = vmuladd(vset(p->weights[ky * size + kx]), taps[kx], sums[r]);
    }
  }
  size_t n = w->out_width - column < CK_LANES ? w->out_width - column : CK_LANES;
#pragma clang loop unroll(full)
  for (size_t r = 0; r < out_rows; r++) {
    size_t at = (row + r) * w->out_width + column;
    vf sum = sums[r];
    if (p->residual) sum += vload_part(p->residual + at, n);
    vstore_part(p->y + at, vatmost(vatleast(sum, vset(e->lower)), vset(e->upper)), n);
  }
}

CK_INLINE void depthwise_square(const depthwise_plane *p, const size_t size, const size_t stride) {
  const ck_window *w = p->window;
  for (size_t column = 0; column < w->out_width; column += CK_LANES) {
    vmask masks[6];
#pragma clang loop unroll(full)
    for (size_t kx = 0; kx < size + size % 2; kx++) {
      /* For a stride of two, the second vector of each pair follows the first. */
      size_t shift = stride == 1 ? kx : kx / 2 * 2 + kx % 2 * CK_LANES;
      ptrdiff_t start = (ptrdiff_t)(column * stride + shift) - (ptrdiff_t)w->before_x;
      masks[kx] = vmask_range(-start, (ptrdiff_t)w->width - start);
    }
    size_t row = 0;
    for (; row + 4 <= w->out_height; row += 4) depthwise_block(p, masks, row, column, 4, size, stride);
    if (row + 2 <= w->out_height) {
      depthwise_block(p, masks, row, column, 2, size, stride);
      row += 2;
    }
    if (row < w->out_height) depthwise_block(p, masks, row, column, 1, size, stride);
  }
}

#define CK_DEPTHWISE(size, stride)                                                                                 \
  static void CK_NAME(ck_f32_depthwise_##size##x##size##s##stride)(const depthwise_plane *p, float *scratch) {     \
    (void)scratch;                                                                                                 \
    depthwise_square(p, size, stride);                                                                             \
  }

CK_DEPTHWISE(3, 1)
CK_DEPTHWISE(3, 2)
CK_DEPTHWISE(5, 1)
CK_DEPTHWISE(5, 2)

/* Computes one row of any window, from the band that `window_fill` wrote at `band`. */
CK_INLINE void depthwise_any_row(const depthwise_plane *p, const window_bands *bands, const float *band, size_t row) {
  const ck_window *w = p->window;
  const ck_epilogue *e = p->epilogue;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    vf sum = vset(p->bias);
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++) {
        size_t column = kx * w->dilation_x;
        const float *from =
          band + ky * w->dilation_y * bands->row + column % w->stride_x * bands->pitch + column / w->stride_x + x;
        sum = vmuladd(vset(p->weights[ky * w->kernel_width + kx]), vload(from), sum);
      }
    size_t n = w->out_width - x < CK_LANES ? w->out_width - x : CK_LANES, at = row * w->out_width + x;
    if (p->residual) sum += vload_part(p->residual + at, n);
    vstore_part(p->y + at, vatmost(vatleast(sum, vset(e->lower)), vset(e->upper)), n);
  }
}

static void CK_NAME(ck_f32_depthwise_any)(const depthwise_plane *p, float *scratch) {
  const ck_window *w = p->window;
  window_bands bands = window_plan(w);
  for (size_t row = 0; row < w->out_height; row += bands.out_rows) {
    size_t count = w->out_height - row < bands.out_rows ? w->out_height - row : bands.out_rows;
    window_fill(w, &bands, p->x, row, count, 0, scratch);
    for (size_t r = 0; r < count; r++) depthwise_any_row(p, &bands, scratch + r * w->stride_y * bands.row, row + r);
  }
}

typedef void (*depthwise_kernel)(const depthwise_plane *p, float *scratch);

static depthwise_kernel depthwise_choose(const ck_window *w) {
  bool square = w->kernel_height == w->kernel_width && w->stride_y == w->stride_x && w->stride_x <= 2 &&
    w->dilation_y == 1 && w->dilation_x == 1;
  if (square && w->kernel_width == 3)
    return w->stride_x == 1 ? CK_NAME(ck_f32_depthwise_3x3s1) : CK_NAME(ck_f32_depthwise_3x3s2);
  if (square && w->kernel_width == 5)
    return w->stride_x == 1 ? CK_NAME(ck_f32_depthwise_5x5s1) : CK_NAME(ck_f32_depthwise_5x5s2);
  return CK_NAME(ck_f32_depthwise_any);
}

/* Computes one output slice as a sum over the slices of taps: each adds to the results of the one before. */
static void depthwise_slice(const depthwise_plane *whole, depthwise_kernel run, size_t slice, float *scratch) {
  const ck_window_axis *s = &whole->window->slices;
  size_t area = whole->window->height * whole->window->width, taps = 0;
  const size_t start = slice * s->stride;
  size_t first = start < s->before ? (s->before - start + s->dilation - 1) / s->dilation : 0;
  for (size_t kz = first; kz < s->kernel && start + kz * s->dilation - s->before < s->size; kz++) taps++;
  ck_window outside = *whole->window;
  ck_epilogue unbounded = {.lower = -INFINITY, .upper = INFINITY};
  depthwise_plane plane = *whole;
  if (taps == 0) {
    outside.height = 0;
    plane.window = &outside;
    run(&plane, scratch);
    return;
  }
  for (size_t kz = first; kz < first + taps; kz++) {
    plane.x = whole->x + (start + kz * s->dilation - s->before) * area;
    plane.weights = whole->weights + kz * whole->window->kernel_height * whole->window->kernel_width;
    plane.epilogue = kz + 1 == first + taps ? whole->epilogue : &unbounded;
    run(&plane, scratch);
    plane.residual = plane.y;
    plane.bias = 0;
  }
}

static void CK_NAME(ck_f32_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_depthwise_args *d = args;
  const ck_window *w = &d->window;
  const ck_window_axis *s = &w->slices;
  depthwise_kernel run = depthwise_choose(w);
  size_t multiplier = d->out_channels / d->in_channels, out_area = w->out_height * w->out_width;
  size_t out_volume = s->out * out_area;
  for (size_t item = begin; item < end; item++) {
    size_t image = item / d->out_channels, channel = item % d->out_channels;
    depthwise_plane plane = {
      .window = w,
      .epilogue = &d->epilogue,
      .x = d->x + (image * d->in_channels + channel / multiplier) * s->size * w->height * w->width,
      .weights = d->weights + channel * s->kernel * w->kernel_height * w->kernel_width,
      .residual = d->epilogue.residual ? d->epilogue.residual + item * out_volume : 0,
      .y = d->y + item * out_volume,
      .bias = d->epilogue.row_bias ? d->epilogue.row_bias[channel] : 0,
    };
    for (size_t slice = 0; slice < s->out; slice++) {
      depthwise_slice(&plane, run, slice, scratch);
      plane.y += out_area;
      if (plane.residual) plane.residual += out_area;
    }
    float *y = d->y + item * out_volume;
    if (d->epilogue.map) d->epilogue.map(y, y, out_volume, d->epilogue.map_a, d->epilogue.map_b);
  }
}
