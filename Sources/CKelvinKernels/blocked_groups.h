/* Groups of channels that share a block. A tile multiplies channels of other groups by zero, which turns infinities
 * and NaN into NaN; such tiles are computed again. */
#pragma once
#include "blocked_tile.h"

/* Whether a result of a tile's first block is NaN. */
CK_INLINE bool blocked_is_odd(const blocked_tile *t, size_t runs, size_t pixels) {
  vf sum = vset(0);
  for (size_t run = 0; run < runs; run++)
    for (size_t p = 0; p < pixels; p++) {
      vf y = vload(t->y + run * t->y_run + p * t->y_pixel);
      sum += vselect(y != y, y, vset(0));
    }
  return vsum(sum) != 0;
}

/* Computes the tile again, each channel from the channels of its group of `width` only. */
static void CK_NAME(ck_f32_blocked_apart)(const blocked_tile *t, size_t runs, size_t pixels, size_t width) {
  for (size_t run = 0; run < runs; run++) {
    vf sums[blocked_pixels][blocked_vectors] = {0};
    const float *w = t->weights;
    for (size_t tap = 0; tap < t->tap_count; tap++)
      for (size_t word = 0; word < t->last_words; word++, w += CK_LANES)
        for (size_t place = 0; place < numbers_per_unit; place++) {
          ptrdiff_t first = (ptrdiff_t)((word * numbers_per_unit + place) / width * width);
          vi lanes = {0};
          for (ptrdiff_t lane = first; lane < first + (ptrdiff_t)width; lane++) lanes[lane] = -1;
          for (size_t p = 0; p < pixels; p++) {
            vf pixel = packed_numbers(vset(t->x[run * t->run + t->taps[tap] + p * unit_lanes + word]), place);
            vf sum = vmuladd(pixel, packed_numbers(vload(w), place), sums[p][0]);
            sums[p][0] = vselect(lanes, sum, sums[p][0]);
          }
        }
    for (size_t p = 0; p < pixels; p++) blocked_finish(t, sums + p, 1, 1, run * t->y_run + p * t->y_pixel);
  }
}
