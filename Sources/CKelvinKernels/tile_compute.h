/* Sums of products of tiles: two tiles of rows by two of columns, four loads for four products. */
#pragma once
#include "gemm_tile.h"
#include "tile_unit.h"

enum { tile_span = 2 };

/* The elements of words: two numbers, or four integers. */
enum { tile_of_numbers, tile_of_bytes };

/* Words of two tiles side by side: numbers, or integers. */
typedef struct {
  _Alignas(64) float sums[tile_span * ck_tile_rows][tile_span * ck_tile_words];
} tile_block;

CK_INLINE void tile_start(const bool has_rows, const bool has_columns) {
  TILE_ZERO(0);
  if (has_columns) TILE_ZERO(1);
  if (has_rows) TILE_ZERO(2);
  if (has_rows && has_columns) TILE_ZERO(3);
}

#define TILE_ADD(sum, a, b) (elements == tile_of_bytes ? TILE_MULTIPLY_BYTES(sum, a, b) : TILE_MULTIPLY(sum, a, b))

/* Adds the products of a tile of 16 words. The second tiles of `a` and `b` are `a_step` and `b_step` words after the
 * first; rows of `b` are `b_row` words apart. */
CK_INLINE void tile_add(
  const void *a, size_t a_step, const void *b, size_t b_step, size_t b_row, const bool has_rows, const bool has_columns,
  const int elements) {
  const size_t word = 4, stride = ck_tile_words * word;
  TILE_LOAD(4, a, stride);
  TILE_LOAD(6, b, b_row * word);
  TILE_ADD(0, 4, 6);
  if (has_columns) {
    TILE_LOAD(7, (const char *)b + b_step * word, b_row * word);
    TILE_ADD(1, 4, 7);
  }
  if (has_rows) {
    TILE_LOAD(5, (const char *)a + a_step * word, stride);
    TILE_ADD(2, 5, 6);
  }
  if (has_rows && has_columns) TILE_ADD(3, 5, 7);
}

CK_INLINE void tile_finish(const bool has_rows, const bool has_columns, tile_block *block) {
  const size_t pitch = sizeof *block->sums;
  TILE_STORE(0, block->sums[0], pitch);
  if (has_columns) TILE_STORE(1, &block->sums[0][ck_tile_words], pitch);
  if (has_rows) TILE_STORE(2, block->sums[ck_tile_rows], pitch);
  if (has_rows && has_columns) TILE_STORE(3, &block->sums[ck_tile_rows][ck_tile_words], pitch);
}

/* Adds up the products of packed panels; the second panel of columns is `step` words after the first. */
CK_INLINE void tile_sum(
  const gemm_tile *t, size_t step, const bool has_rows, const bool has_columns, tile_block *block) {
  tile_start(has_rows, has_columns);
  for (size_t k = 0; k < t->depth; k += ck_tile_words)
    tile_add(
      t->a + k * ck_tile_rows, t->a_panel, t->b + k * ck_tile_words, step, ck_tile_words, has_rows, has_columns,
      tile_of_numbers);
  tile_finish(has_rows, has_columns, block);
}

/* Computes a tile of up to 32 rows and columns. Panels of columns are `stride` words deep. */
static void gemm_compute_packed(const gemm_tile *t, size_t stride) {
  tile_block block;
  const size_t step = stride * ck_tile_rows;
  bool has_rows = t->rows > ck_tile_rows, has_columns = t->columns > ck_tile_words;
  if (has_rows && has_columns) tile_sum(t, step, true, true, &block);
  else if (has_rows) tile_sum(t, step, true, false, &block);
  else if (has_columns) tile_sum(t, step, false, true, &block);
  else tile_sum(t, step, false, false, &block);
  vf lower = vset(t->lower), upper = vset(t->upper);
  for (size_t row = 0; row < t->rows; row++) {
    vf row_bias = vset(t->row_bias ? t->row_bias[row] : 0);
    for (size_t column = 0; column < t->columns; column += CK_LANES)
      gemm_finish(t, row, column, vload(&block.sums[row][column]), row_bias, lower, upper);
  }
}
