/* The source of a convolution by tiles: a band of the image in scratch, rounded, with its padding. A pixel of 32
 * channels is a row of a tile, so that all taps of a window read tiles of the same band. */
#pragma once
#include "tile_band.h"
#include "tile_rows.h"
#include "window_span.h"

/* Rounds `count` pixels, `step` apart, of the two blocks that hold `channels` channels, at most 32. */
CK_INLINE void tile_copy_pixels(
  const float *from, size_t block, size_t step, size_t channels, size_t count, float *to) {
  size_t low = gemm_min(channels, tile_block_channels), high = channels - low;
  for (size_t i = 0; i < count; i++) {
    const float *pixel = from + i * step * tile_block_channels;
    tile_round(pixel, low, pixel + (high ? block : 0), high, to + i * ck_tile_words);
  }
}

/* Fills the planes of a group of up to 32 channels. `block` is the size of a block in the image. */
static void tile_fill(
  const ck_blocked_convolution_args *c, const tile_band *band, const float *x, size_t channels, size_t first,
  float *to) {
  const ck_window *w = &c->window;
  size_t block = w->height * w->width * tile_block_channels;
  if (!c->copies) {
    tile_copy_pixels(x + first * tile_block_channels, block, 1, channels, band->pitch, to);
    return;
  }
  for (size_t y_phase = 0; y_phase < band->y_phases; y_phase++)
    for (size_t x_phase = 0; x_phase < band->x_phases; x_phase++)
      for (size_t row = 0; row < band->rows; row++, to += band->pitch * ck_tile_words) {
        ptrdiff_t y = (ptrdiff_t)((first + row) * w->stride_y + y_phase * w->dilation_y % w->stride_y);
        ptrdiff_t column = (ptrdiff_t)(x_phase * w->dilation_x % w->stride_x) - (ptrdiff_t)w->before_x;
        y -= (ptrdiff_t)w->before_y;
        window_span inside = window_inside(w, y, column, (ptrdiff_t)band->pitch);
        size_t before = (size_t)inside.before, end = (size_t)inside.end, size = ck_tile_words * sizeof *to;
        memset(to, 0, before * size);
        if (end > before) {
          ptrdiff_t at = y * (ptrdiff_t)w->width + column + inside.before * (ptrdiff_t)w->stride_x;
          tile_copy_pixels(
            x + at * tile_block_channels, block, w->stride_x, channels, end - before, to + before * ck_tile_words);
        }
        memset(to + end * ck_tile_words, 0, (band->pitch - end) * size);
      }
}
