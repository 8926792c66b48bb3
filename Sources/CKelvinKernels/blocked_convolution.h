/* Convolution on blocks of channels: nothing is packed where each position reads just itself; otherwise a band of input
 * rows is copied with its padding, the columns of each stride phase side by side. */
#pragma once
#include "blocked_band.h"
#include "blocked_tile.h"
#include "ck_kernels.h"
#include "window.h"

/* Copies one row of pixels of `size` floats, every `stride`-th from column `x`; those outside are zero. */
CK_INLINE void blocked_copy_row(
  const ck_window *w, const float *plane, ptrdiff_t y, ptrdiff_t x, float *to, size_t count, const size_t size) {
  if (size == 1) {
    window_copy_row(w, plane, y, x, to, count, 0);
    return;
  }
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x, n = (ptrdiff_t)count;
  window_span inside = window_inside(w, y, x, n);
  ptrdiff_t before = inside.before, end = inside.end;
  memset(to, 0, (size_t)before * size * sizeof(float));
  const float *from = plane + (y * width + x) * (ptrdiff_t)size;
  if (stride == 1) {
    memcpy(to + before * (ptrdiff_t)size, from + before * (ptrdiff_t)size, (size_t)(end - before) * size * sizeof(float));
  } else {
    for (ptrdiff_t i = before; i < end; i++)
      memcpy(to + i * (ptrdiff_t)size, from + i * stride * (ptrdiff_t)size, size * sizeof(float));
  }
  memset(to + end * (ptrdiff_t)size, 0, (size_t)(n - end) * size * sizeof(float));
}

CK_INLINE void blocked_fill(
  const ck_window *w, const blocked_band *band, const float *plane, size_t first, size_t rows, float *to,
  const size_t size) {
  for (size_t row = 0; row < rows; row++)
    for (size_t phase = 0; phase < w->stride_x; phase++)
      blocked_copy_row(
        w, plane, (ptrdiff_t)(first * w->stride_y + row) - (ptrdiff_t)w->before_y,
        (ptrdiff_t)phase - (ptrdiff_t)w->before_x, to + (row * band->row + phase * band->pitch) * size, band->pitch, size);
}

/* `count` rows of `width` pixels that follow each other in the result, from `y` on, of one output block or two. */
CK_INLINE void blocked_rows(
  const ck_blocked_convolution_args *c, blocked_tile *t, const float *x, size_t x_row, size_t count, size_t width,
  size_t y, size_t step, size_t vectors) {
  size_t source = c->is_planar;
  bool pairs = 2 * width <= blocked_pixels;
  size_t pieces = (width + blocked_pixels - 1) / blocked_pixels, size = (width + pieces - 1) / pieces;
  t->run = x_row;
  t->y_run = width * CK_LANES;
  for (size_t row = 0; row < count;) {
    size_t runs = pairs && row + 1 < count ? 2 : 1;
    for (size_t column = 0; column < width; column += size) {
      size_t pixels = width - column < size ? width - column : size;
      size_t at = y + (row * width + column) * CK_LANES;
      t->x = x + row * x_row + column * step;
      t->y = c->y + at;
      t->residual = c->epilogue.residual ? c->epilogue.residual + at : NULL;
      blocked_tiles[runs - 1][pixels - 1][source][vectors - 1](t);
    }
    row += runs;
  }
}

static void CK_NAME(ck_f32_blocked_convolution)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_convolution_args *c = args;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, out_area = w->out_height * w->out_width;
  size_t extent = c->copies ? w->out_height : out_area, bands = (extent + c->band - 1) / c->band;
  size_t out_blocks = (c->out_channels + CK_LANES - 1) / CK_LANES;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk;
  size_t size = c->is_planar ? 1 : CK_LANES;
  size_t groups = (c->in_channels + size - 1) / size;
  blocked_tile t = {
    .group_channels = size,
    .taps = c->taps,
    .tap_count = w->kernel_height * w->kernel_width,
    .y_block = out_area * CK_LANES,
    .lower = c->epilogue.lower,
    .upper = c->epilogue.upper,
    .map = c->epilogue.map,
    .map_a = c->epilogue.map_a,
    .map_b = c->epilogue.map_b,
  };
  // Groups of the convolution are runs of blocks.
  size_t in_step = c->group_blocks ? c->group_blocks : groups, out_step = c->group_blocks ? c->group_blocks : out_blocks;
  size_t filled = SIZE_MAX;
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t count = extent - first < c->band ? extent - first : c->band;
    const float *x = c->x + image * groups * size * area;
    size_t x_row = 0, width = count, rows = 1, start = first;
    t.plane = area * size;
    if (c->copies) {
      blocked_band band = blocked_plan(w, count);
      x_row = band.row * w->stride_y * size;
      t.plane = band.rows * band.row * size;
      // Items of one band follow each other.
      if (filled != item / pieces)
        for (size_t group = 0; group < groups; group++)
          blocked_fill(
            w, &band, x + group * area * size, first, band.rows, (float *)scratch + group * t.plane, size);
      filled = item / pieces;
      x = scratch;
      width = w->out_width;
      rows = count;
      start = first * w->out_width;
    } else {
      x += first * size;
    }
    size_t last = (piece + 1) * c->block_chunk < out_blocks ? (piece + 1) * c->block_chunk : out_blocks;
    for (size_t block = piece * c->block_chunk; block < last;) {
      size_t run = block / out_step, end_of_run = (run + 1) * out_step < last ? (run + 1) * out_step : last;
      size_t vectors = end_of_run - block > 1 ? 2 : 1, first_group = run * in_step;
      t.groups = groups - first_group < in_step ? groups - first_group : in_step;
      size_t channels_left = c->in_channels - first_group * size;
      size_t channels = channels_left < in_step * size ? channels_left : in_step * size;
      t.last_channels = channels - (t.groups - 1) * size;
      t.weights = c->weights + (run * out_step * in_step * size + (block - run * out_step) * channels) * CK_LANES * t.tap_count;
      t.bias = c->epilogue.row_bias ? c->epilogue.row_bias + block * CK_LANES : NULL;
      t.bias_count = c->out_channels - block * CK_LANES;
      size_t y = (image * out_blocks + block) * t.y_block + start * CK_LANES;
      blocked_rows(c, &t, x + first_group * t.plane, x_row, rows, width, y, size, vectors);
      block += vectors;
    }
  }
}
