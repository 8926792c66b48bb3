/* Convolution of 8-bit integers on blocks of channels by tiles, as tile_convolution.h with a group of 64 channels. The
 * formula of integer_blocked_convolution.h. */
#pragma once
#include "integer_simd.h"
#include "tile_compute.h"
#include "tile_source.h"

enum { tile_bytes_depth = 4 * ck_tile_words };

/* The requantization of a block of channels: that of sum + add - factor * the sum of a pixel's elements. */
typedef struct {
  uint32_t add[tile_block_channels], factor[tile_block_channels];
  float scale[tile_block_channels];
} tile_channels;

typedef struct {
  const ck_integer_blocked_args *args;
  tile_band band;
  /* The bytes of a group of channels of the band, and the number of groups. */
  size_t plane, groups;
  /* [group][tap][16 words][columns] */
  const uint32_t *weights;
  uint8_t *y;
  size_t y_block;
  /* The output blocks: one or two, and whether zero points of their weights are not all zero. */
  size_t blocks;
  tile_channels channels[tile_span];
  bool crosses;
  uint32_t zero;
  integer_bounds bounds;
} tile_integer_task;

CK_INLINE void tile_sum_integer_taps(
  const tile_integer_task *t, const uint8_t *x, const bool has_rows, const bool has_columns, tile_block *block) {
  const ck_window *w = &t->args->window;
  const size_t columns = (has_columns ? 2 : 1) * ck_tile_words;
  const uint32_t *weights = t->weights;
  tile_start(has_rows, has_columns);
  for (size_t group = 0; group < t->groups; group++, x += t->plane)
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++, weights += ck_tile_words * columns)
        tile_add(
          x + tile_band_tap(&t->band, w, ky, kx) * tile_row_bytes, ck_tile_rows * ck_tile_words, weights, ck_tile_words,
          columns, has_rows, has_columns, tile_of_bytes);
  tile_finish(has_rows, has_columns, block);
}

/* The sum of all elements that a pixel reads, each less the zero point. */
static uint32_t tile_pixel_sum(const tile_integer_task *t, const uint8_t *pixel) {
  const ck_window *w = &t->args->window;
  uint32_t sum = 0;
  for (size_t group = 0; group < t->groups; group++) {
    size_t count = gemm_min(t->args->in_channels - group * tile_bytes_depth, tile_bytes_depth);
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++) {
        const uint8_t *from = pixel + group * t->plane + tile_band_tap(&t->band, w, ky, kx) * tile_row_bytes;
        for (size_t i = 0; i < count; i++) sum += from[i];
      }
  }
  return sum - (uint32_t)(t->args->in_channels * w->kernel_height * w->kernel_width) * t->zero;
}

/* Stores one pixel at offset `at`, which reads the band from `x` on. */
static void tile_finish_integers(const tile_integer_task *t, const float *sums, const uint8_t *x, size_t at) {
  uint32_t pixel = t->crosses ? tile_pixel_sum(t, x) : 0;
  for (size_t block = 0; block < t->blocks; block++)
    for (size_t lane = 0; lane < tile_block_channels; lane += CK_LANES) {
      const tile_channels *channels = t->channels + block;
      vw sum = wload(sums + block * tile_block_channels + lane) + wload(channels->add + lane);
      sum -= wload(channels->factor + lane) * (vw)pixel;
      wstore_bytes(
        t->y + block * t->y_block + at * tile_block_channels + lane,
        integer_requantize(sum, vload(channels->scale + lane), t->bounds), CK_LANES);
    }
}

/* Computes up to 32 pixels from `first` on, of `left` that follow each other in the band. */
static void tile_integer_pixels(const tile_integer_task *t, const uint8_t *x, size_t first, size_t left) {
  tile_block block;
  const uint8_t *a = x + first * tile_row_bytes;
  bool has_rows = left > ck_tile_rows, has_columns = t->blocks > 1;
  if (has_rows && has_columns) tile_sum_integer_taps(t, a, true, true, &block);
  else if (has_rows) tile_sum_integer_taps(t, a, true, false, &block);
  else if (has_columns) tile_sum_integer_taps(t, a, false, true, &block);
  else tile_sum_integer_taps(t, a, false, false, &block);
  size_t width = t->args->copies ? t->args->window.out_width : t->band.pitch;
  for (size_t p = 0; p < gemm_min(left, tile_span * ck_tile_rows); p++) {
    size_t row = (first + p) / t->band.pitch, column = (first + p) % t->band.pitch;
    /* Pixels beyond the end of a row are no outputs. */
    if (column < width) tile_finish_integers(t, block.sums[p], a + p * tile_row_bytes, row * width + column);
  }
}

/* Sets the requantization of the channels from `first` on; `sums` are those of their weights. */
static void tile_channels_of(tile_integer_task *t, const uint32_t *sums, size_t first) {
  const ck_requantization *o = &t->args->output;
  const ck_integer_operand *weights = &t->args->weights;
  t->crosses = false;
  for (size_t i = 0; i < t->blocks * tile_block_channels; i++) {
    tile_channels *to = t->channels + i / tile_block_channels;
    size_t channel = first + i, lane = i % tile_block_channels;
    bool inside = channel < t->args->out_channels;
    int32_t zero = inside
      ? integer_value(weights->zero + channel * weights->zero_step, weights->is_signed) +
        integer_shift(weights->is_signed, false)
      : 0;
    to->add[lane] = (inside && o->bias ? (uint32_t)o->bias[channel] : 0) - t->zero * sums[i];
    to->factor[lane] = (uint32_t)zero;
    to->scale[lane] = inside ? o->scale[channel * o->scale_step] : 0;
    if (zero) t->crosses = true;
  }
}

static void CK_NAME(ck_i8_blocked_convolution)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_integer_blocked_args *c = args;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, out_area = w->out_height * w->out_width;
  size_t extent = c->copies ? w->out_height : out_area, bands = (extent + c->band - 1) / c->band;
  size_t in_blocks = (c->in_channels + tile_block_channels - 1) / tile_block_channels;
  size_t out_blocks = (c->out_channels + tile_block_channels - 1) / tile_block_channels;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk, filled = SIZE_MAX;
  uint8_t flip = c->x.is_signed ? 0x80 : 0, zero = *c->x.zero ^ flip;
  tile_source source = {.window = w, .copies = c->copies, .flip = flip, .fill = zero};
  tile_integer_task t = {
    .args = c, .groups = (c->in_channels + tile_bytes_depth - 1) / tile_bytes_depth,
    .y_block = out_area * tile_block_channels, .zero = zero, .bounds = integer_bounds_of(&c->output)};
  size_t words = t.groups * w->kernel_height * w->kernel_width * ck_tile_words;
  tiles_begin();
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t count = gemm_min(extent - first, c->band);
    t.band = tile_band_of(w, c->copies, count);
    t.plane = tile_band_pixels(&t.band) * tile_row_bytes;
    /* Items of one band follow each other. */
    if (filled != item / pieces)
      for (size_t group = 0; group < t.groups; group++)
        tile_fill(
          &source, &t.band, c->x.data + (image * in_blocks * tile_block_channels + group * tile_bytes_depth) * area,
          gemm_min(tile_bytes_depth, c->in_channels - group * tile_bytes_depth), first,
          (uint8_t *)scratch + group * t.plane, tile_of_bytes);
    filled = item / pieces;
    size_t pixels = c->copies ? (count - 1) * t.band.pitch + w->out_width : count;
    size_t last = gemm_min((piece + 1) * c->block_chunk, out_blocks);
    for (size_t block = piece * c->block_chunk; block < last; block += t.blocks) {
      t.blocks = gemm_min(last - block, tile_span);
      t.weights = c->packed + block * tile_block_channels * (words + 1);
      tile_channels_of(&t, t.weights + words * t.blocks * tile_block_channels, block * tile_block_channels);
      t.y = (uint8_t *)c->y + (image * out_blocks + block) * t.y_block +
        first * (c->copies ? w->out_width : 1) * tile_block_channels;
      for (size_t p = 0; p < pixels; p += tile_span * ck_tile_rows) tile_integer_pixels(&t, scratch, p, pixels - p);
    }
  }
  tiles_end();
}
