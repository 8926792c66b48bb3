/* The source of a convolution by tiles: a band of the image in scratch, with its padding. A pixel of 32 channels of
 * rounded numbers, or of 64 channels of unsigned bytes, is a row of a tile, so that all taps of a window read tiles of
 * the same band. */
#pragma once
#include "tile_band.h"
#include "tile_compute.h"
#include "tile_rows.h"
#include "window_span.h"

typedef struct {
  const ck_window *window;
  bool copies;
  /* Of bytes: the bits that make them unsigned, and what they are outside the image. */
  uint8_t flip, fill;
} tile_source;

enum { tile_row_bytes = ck_tile_words * 4 };

/* Rounds `count` pixels, `step` apart, of the two blocks that hold `channels` channels, at most 32. */
CK_INLINE void tile_round_pixels(
  const float *from, size_t block, size_t step, size_t channels, size_t count, float *to) {
  size_t low = gemm_min(channels, tile_block_channels), high = channels - low;
  for (size_t i = 0; i < count; i++) {
    const float *pixel = from + i * step * tile_block_channels;
    tile_round(pixel, low, pixel + (high ? block : 0), high, to + i * ck_tile_words);
  }
}

/* The same for bytes, of the four blocks that hold at most 64 channels. */
CK_INLINE void tile_copy_pixels(
  const tile_source *s, const uint8_t *from, size_t block, size_t step, size_t channels, size_t count, uint8_t *to) {
  typedef uint8_t bytes __attribute__((ext_vector_type(tile_block_channels)));
  for (size_t first = 0; first < tile_row_bytes; first += tile_block_channels, from += block)
    for (size_t i = 0; i < count; i++) {
      bytes pixel = 0;
      if (first < channels) {
        memcpy(&pixel, from + i * step * tile_block_channels, sizeof pixel);
        pixel ^= (bytes)s->flip;
      }
      memcpy(to + i * tile_row_bytes + first, &pixel, sizeof pixel);
    }
}

/* Fills the planes of a group of channels, from output row or position `first` on. `x` are blocks of float32 or of
 * bytes. */
CK_INLINE void tile_fill(
  const tile_source *s, const tile_band *band, const void *x, size_t channels, size_t first, uint8_t *to,
  const int elements) {
  const ck_window *w = s->window;
  const size_t size = elements == tile_of_bytes ? 1 : sizeof(float);
  size_t block = w->height * w->width * tile_block_channels;
  if (!s->copies) {
    const char *from = (const char *)x + first * tile_block_channels * size;
    if (elements == tile_of_bytes) tile_copy_pixels(s, (const uint8_t *)from, block, 1, channels, band->pitch, to);
    else tile_round_pixels((const float *)from, block, 1, channels, band->pitch, (float *)to);
    return;
  }
  for (size_t y_phase = 0; y_phase < band->y_phases; y_phase++)
    for (size_t x_phase = 0; x_phase < band->x_phases; x_phase++)
      for (size_t row = 0; row < band->rows; row++, to += band->pitch * tile_row_bytes) {
        ptrdiff_t y = (ptrdiff_t)((first + row) * w->stride_y + y_phase * w->dilation_y % w->stride_y);
        ptrdiff_t column = (ptrdiff_t)(x_phase * w->dilation_x % w->stride_x) - (ptrdiff_t)w->before_x;
        y -= (ptrdiff_t)w->before_y;
        window_span inside = window_inside(w, y, column, (ptrdiff_t)band->pitch);
        size_t before = (size_t)inside.before, end = (size_t)inside.end;
        memset(to, s->fill, before * tile_row_bytes);
        if (end > before) {
          ptrdiff_t at = y * (ptrdiff_t)w->width + column + inside.before * (ptrdiff_t)w->stride_x;
          const char *from = (const char *)x + at * (ptrdiff_t)(tile_block_channels * size);
          uint8_t *target = to + before * tile_row_bytes;
          if (elements == tile_of_bytes)
            tile_copy_pixels(s, (const uint8_t *)from, block, w->stride_x, channels, end - before, target);
          else
            tile_round_pixels(
              (const float *)from, block, w->stride_x, channels, end - before, (float *)target);
        }
        memset(to + end * tile_row_bytes, s->fill, (band->pitch - end) * tile_row_bytes);
      }
}
