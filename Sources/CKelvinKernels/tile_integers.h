/* Sums of products of 8-bit integers by the unit for tiles: of unsigned rows and signed columns. */
#pragma once
#include "integer_tile.h"
#include "tile_compute.h"

CK_INLINE void tile_sum_integers(
  const integer_tile *t, size_t column, const bool has_rows, const bool has_columns, tile_block *block) {
  tile_start(has_rows, has_columns);
  for (size_t k = 0; k < t->groups; k += ck_tile_words)
    tile_add(
      t->a + k * ck_tile_rows, ck_tile_rows * (t->groups + 1), t->b + k * t->b_row + column, ck_tile_words, t->b_row,
      has_rows, has_columns, tile_of_bytes);
  tile_finish(has_rows, has_columns, block);
}

/* Rows are unsigned, because convolutions have kernels of their own. */
static void integer_compute_tile(const integer_tile *t, bool rows_unsigned) {
  (void)rows_unsigned;
  tile_block block;
  bool has_rows = t->rows > ck_tile_rows;
  for (size_t first = 0; first < t->columns; first += tile_span * ck_tile_words) {
    size_t end = integer_min(first + tile_span * ck_tile_words, t->columns);
    bool has_columns = end - first > ck_tile_words;
    if (has_rows && has_columns) tile_sum_integers(t, first, true, true, &block);
    else if (has_rows) tile_sum_integers(t, first, true, false, &block);
    else if (has_columns) tile_sum_integers(t, first, false, true, &block);
    else tile_sum_integers(t, first, false, false, &block);
    for (size_t row = 0; row < t->rows; row++)
      for (size_t column = first; column < end; column += CK_LANES)
        integer_finish(t, row, column, wload(&block.sums[row][column - first]));
  }
}
