/* The layout of a band of input rows for tiles. The rows and columns of each stride phase that a tap reads are a plane
 * of their own, so that the outputs of all rows read pixels at equal distances: one tile spans the end of a row. */
#pragma once
#include "ck_tiles.h"

/* Channels of a block of the tensors. */
enum { tile_block_channels = 16 };

typedef struct {
  /* The pixels of a row of a plane, of which the first are outputs' own; and its rows. */
  size_t pitch, rows;
  size_t y_phases, x_phases;
} tile_band;

/* The phases that taps read: that of tap k is k * dilation % stride, so it repeats. */
static inline size_t tile_phases(size_t kernel, size_t stride, size_t dilation) {
  size_t period = 1;
  while (period * dilation % stride) period++;
  return kernel < period ? kernel : period;
}

static inline tile_band tile_band_of(const ck_window *w, bool copies, size_t count) {
  if (!copies) return (tile_band){count, 1, 1, 1};
  return (tile_band){
    w->out_width + (w->kernel_width - 1) * w->dilation_x / w->stride_x,
    count + (w->kernel_height - 1) * w->dilation_y / w->stride_y,
    tile_phases(w->kernel_height, w->stride_y, w->dilation_y),
    tile_phases(w->kernel_width, w->stride_x, w->dilation_x)};
}

/* The pixels of all planes. */
static inline size_t tile_band_pixels(const tile_band *b) { return b->y_phases * b->x_phases * b->rows * b->pitch; }

/* The first pixel that a tap reads. */
static inline size_t tile_band_tap(const tile_band *b, const ck_window *w, size_t ky, size_t kx) {
  size_t plane = ky % b->y_phases * b->x_phases + kx % b->x_phases;
  return (plane * b->rows + ky * w->dilation_y / w->stride_y) * b->pitch + kx * w->dilation_x / w->stride_x;
}
