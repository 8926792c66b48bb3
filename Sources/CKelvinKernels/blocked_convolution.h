/* Convolution on blocks of channels, band by band. */
#pragma once
#include "blocked_groups.h"
#include "blocked_source.h"
#include "blocked_tile.h"
#include "ck_kernels.h"

/* The number of products added in one sum. Longer sums are split, since their error would be more than twice that of
 * a matrix product. Rounded operands are less exact than any of their sums, so their sums are not split. */
enum { blocked_longest_sum = 512 };

/* Computes `count` rows of `width` pixels that follow each other in the result, from `y` on, of one output block or
 * two. `added` is added to the results, unless it is null. */
CK_INLINE void blocked_rows(
  const ck_blocked_convolution_args *c, blocked_tile *t, const float *x, size_t x_row, size_t count, size_t width,
  size_t y, size_t step, size_t vectors, const float *added) {
  size_t source = c->is_planar;
  bool pairs = 2 * width <= blocked_pixels;
  size_t pieces = (width + blocked_pixels - 1) / blocked_pixels, size = (width + pieces - 1) / pieces;
  t->run = x_row;
  t->y_run = c->y_row;
  for (size_t row = 0; row < count;) {
    size_t runs = pairs && row + 1 < count ? 2 : 1;
    for (size_t column = 0; column < width; column += size) {
      size_t pixels = width - column < size ? width - column : size;
      size_t at = y + row * c->y_row + column * c->y_pixel;
      t->x = x + row * x_row + column * step;
      t->y = c->y + at;
      t->residual = added ? added + at : NULL;
      blocked_tiles[runs - 1][pixels - 1][source][vectors - 1](t);
      if (c->group_width && blocked_is_odd(t, runs, pixels))
        CK_NAME(ck_f32_blocked_apart)(t, runs, pixels, c->group_width);
    }
    row += runs;
  }
}

/* Computes the rows by partial sums of all pixels, so that the weights of a part stay in the cache. */
CK_INLINE void blocked_sums(
  const ck_blocked_convolution_args *c, blocked_tile *t, const float *x, size_t x_row, size_t count, size_t width,
  size_t y, size_t step, size_t vectors) {
  size_t terms = t->tap_count * t->group_words, chunk = blocked_longest_sum / terms ? blocked_longest_sum / terms : 1;
  if (numbers_per_unit > 1) chunk = t->groups;
  size_t group = 0;
  do {
    bool is_last = t->groups - group <= chunk;
    blocked_tile part = *t;
    part.weights = t->weights + group * terms * vectors * CK_LANES;
    part.groups = is_last ? t->groups - group : chunk;
    part.last_words = is_last ? t->last_words : t->group_words;
    part.bias = group ? NULL : t->bias;
    part.lower = is_last ? t->lower : -INFINITY;
    part.upper = is_last ? t->upper : INFINITY;
    part.map = is_last ? t->map : NULL;
    const float *added = group ? c->y : c->epilogue.residual;
    blocked_rows(c, &part, x + group * t->plane, x_row, count, width, y, step, vectors, added);
    group += chunk;
  } while (group < t->groups);
}

static void CK_NAME(ck_f32_blocked_convolution)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_convolution_args *c = args;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, out_area = w->out_height * w->out_width;
  size_t extent = c->copies ? w->out_height : out_area, bands = (extent + c->band - 1) / c->band;
  size_t out_blocks = (c->out_channels + CK_LANES - 1) / CK_LANES;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk;
  blocked_source s = blocked_source_of(c);
  blocked_tile t = {
    .group_words = s.words,
    .taps = c->taps,
    .tap_count = w->kernel_height * w->kernel_width,
    .y_block = c->y_block,
    .y_pixel = c->y_pixel,
    .lower = c->epilogue.lower,
    .upper = c->epilogue.upper,
    .map = c->epilogue.map,
    .map_a = c->epilogue.map_a,
    .map_b = c->epilogue.map_b,
  };
  // Groups of the convolution are runs of blocks.
  size_t in_step = c->group_blocks ? c->group_blocks : s.groups, out_step = c->group_blocks ? c->group_blocks : out_blocks;
  size_t filled = SIZE_MAX;
  const float *x = NULL;
  size_t image_size = (c->is_planar ? c->in_channels : s.groups * CK_LANES) * area;
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t count = extent - first < c->band ? extent - first : c->band;
    blocked_band band = c->copies ? blocked_plan(w, count) : (blocked_band){0};
    // Items of one band follow each other.
    if (filled != item / pieces)
      x = blocked_bring(c, c->x + image * image_size, &band, first, count, scratch, &t.plane);
    filled = item / pieces;
    size_t x_row = band.row * w->stride_y * s.words;
    size_t width = c->copies ? w->out_width : count, rows = c->copies ? count : 1;
    size_t start = first * (c->copies ? c->y_row : c->y_pixel);
    size_t last = (piece + 1) * c->block_chunk < out_blocks ? (piece + 1) * c->block_chunk : out_blocks;
    for (size_t block = piece * c->block_chunk; block < last;) {
      size_t run = block / out_step, end_of_run = (run + 1) * out_step < last ? (run + 1) * out_step : last;
      size_t vectors = end_of_run - block > 1 ? 2 : 1, first_group = run * in_step;
      t.groups = s.groups - first_group < in_step ? s.groups - first_group : in_step;
      size_t channels_left = c->in_channels - first_group * s.channels;
      size_t channels = channels_left < in_step * s.channels ? channels_left : in_step * s.channels;
      t.last_words = packed_of(channels - (t.groups - 1) * s.channels);
      size_t depth = (t.groups - 1) * s.words + t.last_words;
      t.weights =
        c->weights + (run * out_step * in_step * s.words + (block - run * out_step) * depth) * CK_LANES * t.tap_count;
      t.bias = c->epilogue.row_bias ? c->epilogue.row_bias + block * CK_LANES : NULL;
      t.bias_count = c->out_channels - block * CK_LANES;
      size_t y = (image * out_blocks + block) * t.y_block + start;
      blocked_sums(c, &t, x + first_group * t.plane, x_row, rows, width, y, s.words, vectors);
      block += vectors;
    }
  }
}
