/* Tiles of a convolution on blocks of channels: pixels are broadcast, and vectors hold one or two blocks of output
 * channels. */
#pragma once
#include "ck_kernels.h"
#include "packed_operands.h"

/* The number of pixels of a tile, whose two vectors each fit the registers. */
#if CK_LANES == 16
enum { blocked_pixels = 14 };
#else
enum { blocked_pixels = 6 };
#endif
enum { blocked_vectors = 2 };

typedef struct {
  /* The first pixel of the first group of channels; `plane` words to the next group. */
  const float *x;
  size_t plane;
  /* The offset from the first run of pixels to the second. */
  size_t run;
  /* The groups of channels whose words are contiguous, `group_words` in each but the last. */
  size_t groups, group_words, last_words;
  /* The offset of each tap from the pixel, in words. */
  const size_t *taps;
  size_t tap_count;
  /* [group][tap][word][vectors * CK_LANES] */
  const float *weights;
  float *y;
  /* The offsets from an output block to the next, from the first run to the second, and from a pixel to the next. */
  size_t y_block, y_run, y_pixel;
  const float *residual;
  /* The bias of CK_LANES * vectors channels, or null; only `bias_count` numbers are stored. */
  const float *bias;
  size_t bias_count;
  float lower, upper;
  ck_map map;
  float map_a, map_b;
} blocked_tile;

CK_INLINE void blocked_finish(
  const blocked_tile *t, vf (*sums)[blocked_vectors], const size_t pixels, const size_t vectors, size_t from) {
  vf lower = vset(t->lower), upper = vset(t->upper);
#pragma clang loop unroll(full)
  for (size_t v = 0; v < vectors; v++) {
    size_t first = v * CK_LANES;
    vf bias = vset(0);
    if (t->bias && first < t->bias_count)
      bias = vload_part(t->bias + first, t->bias_count - first < CK_LANES ? t->bias_count - first : CK_LANES);
    float *y = t->y + v * t->y_block + from;
    const float *residual = t->residual ? t->residual + v * t->y_block + from : NULL;
#pragma clang loop unroll(full)
    for (size_t p = 0; p < pixels; p++) {
      vf sum = sums[p][v] + bias;
      if (residual) sum += vload(residual + p * t->y_pixel);
      vstore(y + p * t->y_pixel, vatmost(vatleast(sum, lower), upper));
    }
    if (t->map) t->map(y, y, pixels * CK_LANES, t->map_a, t->map_b);
  }
}

/* `step` is the number of words from a pixel to the next. */
CK_INLINE void blocked_tile_body(
  const blocked_tile *t, const size_t runs, const size_t pixels, const size_t vectors, const size_t step) {
  vf sums[blocked_pixels][blocked_vectors];
#pragma clang loop unroll(full)
  for (size_t p = 0; p < runs * pixels; p++)
#pragma clang loop unroll(full)
    for (size_t v = 0; v < vectors; v++) sums[p][v] = vset(0);
  const float *w = t->weights;
  for (size_t group = 0; group < t->groups; group++) {
    size_t words = group + 1 < t->groups ? t->group_words : t->last_words;
    for (size_t tap = 0; tap < t->tap_count; tap++) {
      const float *a = t->x + group * t->plane + t->taps[tap], *b = a + t->run;
      for (size_t c = 0; c < words; c++, w += vectors * CK_LANES) {
        vf x[blocked_vectors];
#pragma clang loop unroll(full)
        for (size_t v = 0; v < vectors; v++) {
          x[v] = vload(w + v * CK_LANES);
          __builtin_prefetch(w + (16 * vectors + v) * CK_LANES);
        }
#pragma clang loop unroll(full)
        for (size_t p = 0; p < runs * pixels; p++) {
          vf pixel = vset(p < pixels ? a[p * step + c] : b[(p - pixels) * step + c]);
#pragma clang loop unroll(full)
          for (size_t v = 0; v < vectors; v++) sums[p][v] = packed_muladd(pixel, x[v], sums[p][v]);
        }
      }
    }
  }
  blocked_finish(t, sums, pixels, vectors, 0);
  if (runs == 2) blocked_finish(t, sums + pixels, pixels, vectors, t->y_run);
}

typedef void (*blocked_tile_function)(const blocked_tile *t);

#define CK_BLOCKED_TILE(runs, pixels, vectors, name, step)                                                     \
  static void CK_NAME(ck_f32_blocked_##runs##x##pixels##x##vectors##name)(const blocked_tile *t) {             \
    blocked_tile_body(t, runs, pixels, vectors, step);                                                         \
  }
#define CK_BLOCKED_TILES(runs, pixels)                        \
  CK_BLOCKED_TILE(runs, pixels, 1, blocks, unit_lanes)        \
  CK_BLOCKED_TILE(runs, pixels, 2, blocks, unit_lanes)        \
  CK_BLOCKED_TILE(runs, pixels, 1, planes, 1)                 \
  CK_BLOCKED_TILE(runs, pixels, 2, planes, 1)
#define CK_BLOCKED_ENTRY(runs, pixels)                                                                        \
  {{CK_NAME(ck_f32_blocked_##runs##x##pixels##x1blocks), CK_NAME(ck_f32_blocked_##runs##x##pixels##x2blocks)}, \
   {CK_NAME(ck_f32_blocked_##runs##x##pixels##x1planes), CK_NAME(ck_f32_blocked_##runs##x##pixels##x2planes)}}

#if CK_LANES == 16
#define CK_BLOCKED_SIZES(X)                                                                                  \
  X(1, 1) X(1, 2) X(1, 3) X(1, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8) X(1, 9) X(1, 10) X(1, 11) X(1, 12) X(1, 13) \
  X(1, 14)
#define CK_BLOCKED_PAIRS(X) X(2, 1) X(2, 2) X(2, 3) X(2, 4) X(2, 5) X(2, 6) X(2, 7)
#else
#define CK_BLOCKED_SIZES(X) X(1, 1) X(1, 2) X(1, 3) X(1, 4) X(1, 5) X(1, 6)
#define CK_BLOCKED_PAIRS(X) X(2, 1) X(2, 2) X(2, 3)
#endif
CK_BLOCKED_SIZES(CK_BLOCKED_TILES)
CK_BLOCKED_PAIRS(CK_BLOCKED_TILES)

/* Indexed by runs, pixels less one, whether the source is planes, and blocks less one. */
#define CK_BLOCKED_LISTED(runs, pixels) [runs - 1][pixels - 1] = CK_BLOCKED_ENTRY(runs, pixels),
static const blocked_tile_function blocked_tiles[2][blocked_pixels][2][2] = {
  CK_BLOCKED_SIZES(CK_BLOCKED_LISTED) CK_BLOCKED_PAIRS(CK_BLOCKED_LISTED)};
