/* Convolution on blocks of channels by tiles: rows are output pixels of a band, which follow each other across the ends
 * of output rows, and columns are the channels of a pair of output blocks. */
#pragma once
#include "tile_compute.h"
#include "tile_source.h"

typedef struct {
  const ck_blocked_convolution_args *args;
  tile_band band;
  /* The words of a group of 32 channels of the band, and the number of groups. */
  size_t plane, groups;
  /* [group][tap][16 words][columns] */
  const float *weights;
  /* The offset of the first output of the band and of the first output block. */
  size_t y;
  /* The first channel, and the output blocks: one or two. */
  size_t channel, blocks;
} tile_task;

CK_INLINE void tile_sum_taps(
  const tile_task *t, const float *x, const bool has_rows, const bool has_columns, tile_block *block) {
  const ck_window *w = &t->args->window;
  const size_t columns = (has_columns ? 2 : 1) * ck_tile_words;
  const float *weights = t->weights;
  tile_start(has_rows, has_columns);
  for (size_t group = 0; group < t->groups; group++, x += t->plane)
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++, weights += ck_tile_words * columns) {
        const float *a = x + tile_band_tap(&t->band, w, ky, kx) * ck_tile_words;
        tile_add(
          a, ck_tile_rows * ck_tile_words, weights, ck_tile_words, columns, has_rows, has_columns, tile_of_numbers);
      }
  tile_finish(has_rows, has_columns, block);
}

/* Finishes `count` pixels of an output row, from the one at offset `at` on. */
static void tile_finish_pixels(const tile_task *t, float (*sums)[tile_span * ck_tile_words], size_t count, size_t at) {
  const ck_blocked_convolution_args *c = t->args;
  const ck_epilogue *e = &c->epilogue;
  vf lower = vset(e->lower), upper = vset(e->upper);
  for (size_t block = 0; block < t->blocks; block++) {
    size_t channel = t->channel + block * tile_block_channels, place = at + block * c->y_block;
    for (size_t lane = 0; lane < tile_block_channels; lane += CK_LANES) {
      vf bias = vset(0);
      if (e->row_bias && channel + lane < c->out_channels)
        bias = vload_part(e->row_bias + channel + lane, gemm_min(CK_LANES, c->out_channels - channel - lane));
      for (size_t p = 0; p < count; p++) {
        vf sum = vload(&sums[p][block * tile_block_channels + lane]) + bias;
        if (e->residual) sum += vload(e->residual + place + p * c->y_pixel + lane);
        vstore(c->y + place + p * c->y_pixel + lane, vatmost(vatleast(sum, lower), upper));
      }
    }
    if (e->map) e->map(c->y + place, c->y + place, count * tile_block_channels, e->map_a, e->map_b);
  }
}

/* Computes up to 32 pixels, of `left` that follow each other in the band. */
CK_INLINE void tile_pixels(const tile_task *t, const float *x, size_t first, size_t left) {
  tile_block block;
  const float *a = x + first * ck_tile_words;
  bool has_rows = left > ck_tile_rows, has_columns = t->blocks > 1;
  if (has_rows && has_columns) tile_sum_taps(t, a, true, true, &block);
  else if (has_rows) tile_sum_taps(t, a, true, false, &block);
  else if (has_columns) tile_sum_taps(t, a, false, true, &block);
  else tile_sum_taps(t, a, false, false, &block);
  const ck_blocked_convolution_args *c = t->args;
  size_t width = c->copies ? c->window.out_width : t->band.pitch, count = gemm_min(left, tile_span * ck_tile_rows);
  for (size_t p = 0; p < count;) {
    size_t row = (first + p) / t->band.pitch, column = (first + p) % t->band.pitch;
    /* Pixels beyond the end of a row are no outputs. */
    size_t run = gemm_min(t->band.pitch - column, count - p);
    if (column < width)
      tile_finish_pixels(
        t, block.sums + p, gemm_min(run, width - column), t->y + row * c->y_row + column * c->y_pixel);
    p += run;
  }
}

static void CK_NAME(ck_f32_blocked_convolution)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_convolution_args *c = args;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, taps = w->kernel_height * w->kernel_width;
  size_t extent = c->copies ? w->out_height : w->out_height * w->out_width, bands = (extent + c->band - 1) / c->band;
  size_t in_blocks = (c->in_channels + tile_block_channels - 1) / tile_block_channels;
  size_t out_blocks = (c->out_channels + tile_block_channels - 1) / tile_block_channels;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk, filled = SIZE_MAX;
  tile_task t = {.args = c, .groups = (c->in_channels + tile_depth - 1) / tile_depth};
  tile_source source = {.window = w, .copies = c->copies};
  float *x = scratch;
  tiles_begin();
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t count = gemm_min(extent - first, c->band);
    t.band = tile_band_of(w, c->copies, count);
    t.plane = tile_band_pixels(&t.band) * ck_tile_words;
    /* Items of one band follow each other. */
    if (filled != item / pieces)
      for (size_t group = 0; group < t.groups; group++)
        tile_fill(
          &source, &t.band, c->x + (image * in_blocks * tile_block_channels + group * tile_depth) * area,
          gemm_min(tile_depth, c->in_channels - group * tile_depth), first, (uint8_t *)(x + group * t.plane),
          tile_of_numbers);
    filled = item / pieces;
    size_t pixels = c->copies ? (count - 1) * t.band.pitch + w->out_width : count;
    size_t last = gemm_min((piece + 1) * c->block_chunk, out_blocks);
    for (size_t block = piece * c->block_chunk; block < last; block += t.blocks) {
      t.blocks = gemm_min(last - block, tile_span);
      t.channel = block * tile_block_channels;
      t.weights = c->weights + block * t.groups * taps * ck_tile_words * tile_block_channels;
      t.y = (image * out_blocks + block) * c->y_block + first * (c->copies ? c->y_row : c->y_pixel);
      for (size_t p = 0; p < pixels; p += tile_span * ck_tile_rows) tile_pixels(&t, x, p, pixels - p);
    }
  }
  tiles_end();
}
