/* Tiles of a convolution of 8-bit elements on blocks of channels: words of four channels of a pixel are broadcast,
 * and vectors hold one or two blocks of output channels. */
#pragma once
#include "integer_simd.h"
#include <math.h>

enum { integer_pixels = 14, integer_pair = 2 };

/* The requantization of a block's channels: result = requantized(sum + add). */
typedef struct {
  vw add;
  /* The zero points of the weights, used if any is not zero. */
  vw factor;
  vf scale;
} integer_block;

/* The range of requantized sums. */
typedef struct {
  integer_bounds bounds;
  int32_t lower, upper;
  bool is_signed;
  /* Whether all scales are below 1. */
  bool saturates;
} integer_range;

CK_INLINE integer_range integer_range_of(const ck_requantization *o, size_t channels) {
  integer_range range = {integer_bounds_of(o), o->lower, o->upper, o->type == ck_int8, true};
  for (size_t i = 0; i < (o->scale_step ? channels : 1); i++)
    if (!(fabsf(o->scale[i]) < 1)) range.saturates = false;
  return range;
}

typedef struct {
  /* The first pixel of the first group of channels; `plane` bytes to the next group. */
  const uint8_t *x;
  size_t plane;
  /* The offset from the first run of pixels to the second. */
  size_t run;
  /* The groups of channels whose numbers are contiguous, `group_words` words in each but the last. */
  size_t groups, group_words, last_words;
  /* The offset of each tap from the pixel, in bytes. */
  const size_t *taps;
  size_t tap_count;
  /* [group][tap][word][vectors * CK_LANES] */
  const uint32_t *weights;
  uint8_t *y;
  /* The offsets from an output block to the next, and from the first run to the second. */
  size_t y_block, y_run;
  const integer_block *blocks;
  integer_range range;
  /* The sum that `factor` is multiplied by at each pixel, or null. */
  const uint32_t *pixel_sums;
} integer_blocked_tile;

/* The same as integer_requantize, for a whole vector. */
CK_INLINE void integer_store_block(uint8_t *y, vw sum, vf scale, integer_bounds b) {
  vf x = __builtin_convertvector((vi)sum, vf) * scale;
  x = vatmost(vatleast(x, vset(b.lower)), vset(b.upper));
  vw r = (vw)_mm512_cvtps_epi32((__m512)x) + (vw)(uint32_t)b.zero;
  _mm_storeu_si128((__m128i *)y, _mm512_cvtepi32_epi8((__m512i)r));
}

/* Multiples of a scale below 1 stay in int32, so saturating conversions can be used. The result has the bytes of
 * four vectors, grouped by each lane of 128 bits. */
CK_INLINE __m512i integer_pack_four(const vw *sums, const vf *scales, const size_t scale_step, const integer_range *r) {
  __m512i x[4];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 4; i++)
    x[i] = _mm512_cvtps_epi32((__m512)(__builtin_convertvector((vi)sums[i], vf) * scales[i * scale_step]));
  __m512i zero = _mm512_set1_epi16((short)r->bounds.zero);
  __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(x[0], x[1]), zero);
  __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(x[2], x[3]), zero);
  if (r->is_signed) {
    __m512i all = _mm512_packs_epi16(low, high);
    return _mm512_min_epi8(_mm512_max_epi8(all, _mm512_set1_epi8((char)r->lower)), _mm512_set1_epi8((char)r->upper));
  }
  __m512i all = _mm512_packus_epi16(low, high);
  return _mm512_min_epu8(_mm512_max_epu8(all, _mm512_set1_epi8((char)r->lower)), _mm512_set1_epi8((char)r->upper));
}

/* Stores four pixels, or the first `count`, of one block of channels. */
CK_INLINE void integer_store_pixels(uint8_t *y, const vw *sums, vf scale, const integer_range *r, const size_t count) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i bytes = _mm512_permutexvar_epi32(order, integer_pack_four(sums, &scale, 0, r));
  if (count == 4) _mm512_storeu_si512(y, bytes);
  else _mm512_mask_storeu_epi8(y, ((__mmask64)1 << (16 * count)) - 1, bytes);
}

CK_INLINE void integer_blocked_finish(
  const integer_blocked_tile *t, vw (*sums)[integer_pair], const size_t pixels, const size_t vectors, size_t from,
  size_t first) {
#pragma clang loop unroll(full)
  for (size_t v = 0; v < vectors; v++) {
    const integer_block *block = t->blocks + v;
    uint8_t *y = t->y + v * t->y_block + from;
#pragma clang loop unroll(full)
    for (size_t p = 0; p < pixels; p += 4) {
      const size_t count = pixels - p < 4 ? pixels - p : 4;
      vw four[4];
#pragma clang loop unroll(full)
      for (size_t i = 0; i < 4; i++) {
        four[i] = sums[i < count ? p + i : p][v] + block->add;
        if (t->pixel_sums) four[i] -= block->factor * (vw)t->pixel_sums[i < count ? first + p + i : first + p];
      }
      if (t->range.saturates) {
        integer_store_pixels(y + p * CK_LANES, four, block->scale, &t->range, count);
      } else {
#pragma clang loop unroll(full)
        for (size_t i = 0; i < count; i++)
          integer_store_block(y + (p + i) * CK_LANES, four[i], block->scale, t->range.bounds);
      }
    }
  }
}

/* `step` is the number of bytes from a pixel to the next. */
CK_INLINE void integer_blocked_tile_body(
  const integer_blocked_tile *t, const size_t runs, const size_t pixels, const size_t vectors, const size_t step) {
  vw sums[integer_pixels][integer_pair];
#pragma clang loop unroll(full)
  for (size_t p = 0; p < runs * pixels; p++)
#pragma clang loop unroll(full)
    for (size_t v = 0; v < vectors; v++) sums[p][v] = (vw)0;
  const uint32_t *w = t->weights;
  for (size_t group = 0; group < t->groups; group++) {
    size_t words = group + 1 < t->groups ? t->group_words : t->last_words;
    for (size_t tap = 0; tap < t->tap_count; tap++) {
      const uint8_t *a = t->x + group * t->plane + t->taps[tap], *b = a + t->run;
      for (size_t c = 0; c < words; c++, w += vectors * CK_LANES, a += 4, b += 4) {
        vw x[integer_pair];
#pragma clang loop unroll(full)
        for (size_t v = 0; v < vectors; v++) {
          x[v] = wload(w + v * CK_LANES);
          __builtin_prefetch(w + (16 * vectors + v) * CK_LANES);
        }
#pragma clang loop unroll(full)
        for (size_t p = 0; p < runs * pixels; p++) {
          uint32_t word;
          memcpy(&word, p < pixels ? a + p * step : b + (p - pixels) * step, sizeof word);
          vw pixel = (vw)word;
#pragma clang loop unroll(full)
          for (size_t v = 0; v < vectors; v++) sums[p][v] = wdot(sums[p][v], pixel, x[v]);
        }
      }
    }
  }
  integer_blocked_finish(t, sums, pixels, vectors, 0, 0);
  if (runs == 2) integer_blocked_finish(t, sums + pixels, pixels, vectors, t->y_run, pixels);
}

typedef void (*integer_blocked_function)(const integer_blocked_tile *t);

#define CK_INTEGER_BLOCKED(runs, pixels, vectors, name, step)                                            \
  static void CK_NAME(ck_i8_blocked_##runs##x##pixels##x##vectors##name)(const integer_blocked_tile *t) { \
    integer_blocked_tile_body(t, runs, pixels, vectors, step);                                           \
  }
#define CK_INTEGER_BLOCKED_TILES(runs, pixels)            \
  CK_INTEGER_BLOCKED(runs, pixels, 1, blocks, CK_LANES)   \
  CK_INTEGER_BLOCKED(runs, pixels, 2, blocks, CK_LANES)   \
  CK_INTEGER_BLOCKED(runs, pixels, 1, words, 4)           \
  CK_INTEGER_BLOCKED(runs, pixels, 2, words, 4)
#define CK_INTEGER_BLOCKED_SIZES(X)                                                                          \
  X(1, 1) X(1, 2) X(1, 3) X(1, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8) X(1, 9) X(1, 10) X(1, 11) X(1, 12) X(1, 13) \
  X(1, 14) X(2, 1) X(2, 2) X(2, 3) X(2, 4) X(2, 5) X(2, 6) X(2, 7)
CK_INTEGER_BLOCKED_SIZES(CK_INTEGER_BLOCKED_TILES)

/* Indexed by runs, pixels less one, whether pixels are single words, and blocks less one. */
#define CK_INTEGER_BLOCKED_LISTED(runs, pixels)                                                              \
  [runs - 1][pixels - 1] = {                                                                                 \
    {CK_NAME(ck_i8_blocked_##runs##x##pixels##x1blocks), CK_NAME(ck_i8_blocked_##runs##x##pixels##x2blocks)}, \
    {CK_NAME(ck_i8_blocked_##runs##x##pixels##x1words), CK_NAME(ck_i8_blocked_##runs##x##pixels##x2words)}},
static const integer_blocked_function integer_blocked_tiles[2][integer_pixels][2][2] = {
  CK_INTEGER_BLOCKED_SIZES(CK_INTEGER_BLOCKED_LISTED)};
