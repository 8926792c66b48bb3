/* Matrix products: columns are packed panel by panel, and each panel is multiplied by all rows of the chunk. Columns
 * of words of two numbers are packed beforehand, or unpacked from codes. */
#pragma once
#include "ck_kernels.h"
#include "coded.h"
#ifdef CK_TILES
#include "tile_compute.h"
#include "tile_rows.h"
/* The rows of a panel, and the rows and packed columns that are computed together. */
enum {
  gemm_panel = ck_tile_rows,
  gemm_height = tile_span * ck_tile_rows,
  gemm_packed_width = tile_span * ck_tile_words,
};
#else
#include "gemm_compute.h"
#ifndef CK_PAIRS
#include "gemm_pack.h"
#endif
#include "gemm_rows.h"
#include "tile_unit.h"
enum { gemm_panel = ck_gemm_rows, gemm_height = ck_gemm_rows, gemm_packed_width = ck_gemm_packed_width };
#endif

/* Unpacks words `k` to `k + depth` of a panel of codes. The depth may be padded. */
CK_INLINE void gemm_unpack(const ck_gemm_args *g, size_t panel, size_t k, size_t depth, float *to) {
  size_t first = k * numbers_per_unit, end = gemm_min(first + depth * numbers_per_unit, g->coded.depth);
  size_t words = (end - first + numbers_per_unit - 1) / numbers_per_unit;
  coded_unpack(&g->coded, panel, first, end, to);
  memset(to + words * ck_gemm_panel, 0, (depth - words) * ck_gemm_panel * sizeof *to);
}

/* Multiplies one chunk of rows by one chunk of columns of one batch. */
static void gemm_compute_item(const ck_gemm_args *g, size_t batch, size_t row, size_t column, float *panels) {
  size_t a_index = g->a_index ? g->a_index[batch] : batch % g->a_period;
  size_t b_index = g->b_index ? g->b_index[batch] : batch;
  const float *a = g->a + a_index * g->a_step;
  const float *b = g->b + b_index * g->b_step;
  const float *row_exponents = a, *column_exponents = b;
  a += packed_exponents(g->rows, gemm_panel);
  float *c = g->c + batch * g->c_step;
  size_t row_end = gemm_min(row + g->row_chunk, g->rows);
  size_t column_end = gemm_min(column + g->column_chunk, g->columns);
  bool is_coded = g->kind == ck_columns_coded;
  size_t width = g->kind == ck_columns_packed || is_coded ? gemm_packed_width : gemm_width;
  size_t k = 0;
  do {
    size_t depth = gemm_min(g->depth_chunk, g->depth - k);
    if (is_coded)
      for (size_t j = column; j < column_end; j += ck_gemm_panel)
        gemm_unpack(g, j / ck_gemm_panel, k, depth, panels + (j - column) * depth);
#if !defined(CK_PAIRS) && !defined(CK_TILES)
    else if (g->kind != ck_columns_packed)
      for (size_t j = column, panel = 0; j < column_end; j += gemm_width, panel++)
        gemm_pack(
          g, b, k, k + depth, j, gemm_min(gemm_width, column_end - j), panels + panel * depth * gemm_width,
          gemm_width);
#endif
    for (size_t i = row; i < row_end; i += gemm_height) {
      for (size_t j = column; j < column_end; j += width) {
        gemm_tile tile = {
          .depth = depth,
          .a = a + (i * g->depth + k * gemm_panel),
          .a_panel = g->depth * gemm_panel,
          .c = c + i * g->c_row_stride + j,
          .c_row = g->c_row_stride,
          .rows = gemm_min(gemm_height, row_end - i),
          .columns = gemm_min(width, column_end - j),
          .lower = g->epilogue.lower,
          .upper = g->epilogue.upper,
          .continues = k > 0,
          .finishes = k + depth == g->depth,
          .row_exponents = row_exponents + i,
        };
        if (g->epilogue.row_bias) tile.row_bias = g->epilogue.row_bias + a_index * g->rows + i;
        if (g->epilogue.column_bias) tile.column_bias = g->epilogue.column_bias + j;
        if (g->epilogue.residual) tile.residual = g->epilogue.residual + (tile.c - g->c);
        if (g->kind == ck_columns_packed) {
          tile.b = b + packed_exponents(g->columns, ck_gemm_panel) + j * g->depth + k * ck_gemm_panel;
          tile.column_exponents = column_exponents + j;
          tile.b_row = ck_gemm_panel;
          tile.b_vector = CK_LANES;
          gemm_compute_packed(&tile, g->depth);
        } else if (is_coded) {
          tile.b = panels + (j - column) * depth;
          tile.b_row = ck_gemm_panel;
          tile.b_vector = CK_LANES;
          gemm_compute_packed(&tile, depth);
#ifndef CK_TILES
        } else {
          tile.b = panels + (j - column) * depth;
          tile.b_row = gemm_width;
          tile.b_vector = CK_LANES;
          gemm_compute_tile(&tile);
#endif
        }
        if (tile.finishes && g->epilogue.map)
          for (size_t r = 0; r < tile.rows; r++) {
            float *y = tile.c + r * tile.c_row;
            g->epilogue.map(y, y, tile.columns, g->epilogue.map_a, g->epilogue.map_b);
          }
      }
    }
    k += depth;
  } while (k < g->depth);
}

static void CK_NAME(ck_f32_gemm)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_gemm_args *g = args;
  tiles_begin();
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    gemm_compute_item(
      g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
  tiles_end();
}
