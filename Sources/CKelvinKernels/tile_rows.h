/* Packs rows of a product of tiles, 16 rows at a time: [words / 16][16 rows][16 words]. */
#pragma once
#include "bfloat.h"
#include "ck_tiles.h"
#include "gemm_tile.h"

enum { tile_depth = 2 * ck_tile_words };

/* Rounds up to 16 numbers and up to 16 more to a row of a tile. Denormals become zeros, and either half is padded with
 * zeros. */
CK_INLINE void tile_round(const float *low, size_t low_count, const float *high, size_t high_count, float *to) {
#if CK_LANES == 16
  vf first = vload_part(low, low_count), second = vload_part(high, high_count);
  __m512bh words = _mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
  memcpy(to, &words, sizeof words);
#else
  uint16_t bits[tile_depth] = {0};
  for (size_t half = 0; half < 2; half++) {
    const float *from = half ? high : low;
    for (size_t i = 0; i < (half ? high_count : low_count); i++)
      bits[half * ck_tile_words + i] = bfloat_bits(flushed(from[i]));
  }
  memcpy(to, bits, sizeof bits);
#endif
}

static void tile_pack_rows(
  const float *x, size_t rows, size_t depth, size_t row_stride, size_t depth_stride, float *y) {
  float turned[tile_depth];
  for (size_t k = 0; k < depth; k += tile_depth, y += ck_tile_rows * ck_tile_words) {
    size_t count = gemm_min(tile_depth, depth - k), low = gemm_min(count, ck_tile_words);
    for (size_t row = 0; row < rows; row++) {
      const float *from = x + row * row_stride + k * depth_stride;
      if (depth_stride != 1) {
        for (size_t i = 0; i < count; i++) turned[i] = from[i * depth_stride];
        from = turned;
      }
      tile_round(from, low, from + low, count - low, y + row * ck_tile_words);
    }
    memset(y + rows * ck_tile_words, 0, (ck_tile_rows - rows) * ck_tile_words * sizeof *y);
  }
}

static void CK_NAME(ck_f32_pack_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_pack_rows_args *p = args;
  size_t panels = (p->rows + ck_tile_rows - 1) / ck_tile_rows;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % panels * ck_tile_rows;
    tile_pack_rows(
      p->x + item / panels * p->x_step + first * p->row_stride, gemm_min(ck_tile_rows, p->rows - first), p->depth,
      p->row_stride, p->depth_stride, p->y + item / panels * p->y_step + first * packed_of(p->depth));
  }
}
