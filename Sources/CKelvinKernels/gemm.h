/* Matrix products: columns are packed panel by panel, and each panel meets all rows of the chunk. */
#pragma once
#include "ck_kernels.h"
#include "gemm_pack.h"
#include "gemm_tile.h"

/* One chunk of rows times one chunk of columns of one batch. */
static void gemm_compute_item(const ck_gemm_args *g, size_t batch, size_t row, size_t column, float *panels) {
  size_t a_index = g->a_index ? g->a_index[batch] : batch % g->a_period;
  size_t b_index = g->b_index ? g->b_index[batch] : batch;
  const float *a = g->a + a_index * g->a_step;
  const float *b = g->b + b_index * g->b_step;
  float *c = g->c + batch * g->c_step;
  size_t row_end = gemm_min(row + g->row_chunk, g->rows);
  size_t column_end = gemm_min(column + g->column_chunk, g->columns);
  size_t width = g->kind == ck_columns_packed ? ck_gemm_packed_width : gemm_width;
  size_t k = 0;
  do {
    size_t depth = gemm_min(g->depth_chunk, g->depth - k);
    if (g->kind != ck_columns_packed)
      for (size_t j = column, panel = 0; j < column_end; j += gemm_width, panel++)
        gemm_pack(
          g, b, k, k + depth, j, gemm_min(gemm_width, column_end - j), panels + panel * depth * gemm_width,
          gemm_width);
    for (size_t i = row; i < row_end; i += ck_gemm_rows) {
      for (size_t j = column; j < column_end; j += width) {
        gemm_tile tile = {
          .depth = depth,
          .a = a + (i * g->depth + k * ck_gemm_rows),
          .c = c + i * g->c_row_stride + j,
          .c_row = g->c_row_stride,
          .rows = gemm_min(ck_gemm_rows, row_end - i),
          .columns = gemm_min(width, column_end - j),
          .lower = g->epilogue.lower,
          .upper = g->epilogue.upper,
          .continues = k > 0,
          .finishes = k + depth == g->depth,
        };
        if (g->epilogue.row_bias) tile.row_bias = g->epilogue.row_bias + a_index * g->rows + i;
        if (g->epilogue.column_bias) tile.column_bias = g->epilogue.column_bias + j;
        if (g->epilogue.residual) tile.residual = g->epilogue.residual + (tile.c - g->c);
        if (g->kind == ck_columns_packed) {
          tile.b = b + j * g->depth + k * ck_gemm_panel;
          tile.b_row = ck_gemm_panel;
          tile.b_vector = CK_LANES;
          gemm_compute_packed(&tile, g->depth);
        } else {
          tile.b = panels + (j - column) * depth;
          tile.b_row = gemm_width;
          tile.b_vector = CK_LANES;
          gemm_compute_tile(&tile);
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
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    gemm_compute_item(
      g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
}

typedef float gemm_line __attribute__((ext_vector_type(ck_gemm_rows)));

/* Eight elements of each of eight rows, `stride` elements apart, turned round to rows `pitch` apart. */
CK_INLINE void gemm_turn(const float *x, size_t stride, float *y, size_t pitch) {
  gemm_line r[8], s[8];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 8; i++) memcpy(&r[i], x + i * stride, sizeof r[i]);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 8; i += 4)
#pragma clang loop unroll(full)
    for (size_t j = i; j < i + 2; j++) {
      r[j] = __builtin_shufflevector(s[j], s[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      r[j + 2] = __builtin_shufflevector(s[j], s[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 4; i++) {
    s[i] = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    s[i + 4] = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 8; i++) memcpy(y + i * pitch, &s[i], sizeof s[i]);
}

static void CK_NAME(ck_f32_pack_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_pack_rows_args *p = args;
  size_t panels = (p->rows + ck_gemm_rows - 1) / ck_gemm_rows;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % panels * ck_gemm_rows;
    const float *x = p->x + item / panels * p->x_step + first * p->row_stride;
    float *y = p->y + item / panels * p->y_step + first * p->depth;
    size_t rows = gemm_min(ck_gemm_rows, p->rows - first), k = 0;
    if (rows == ck_gemm_rows && p->depth_stride == 1)
      for (; k + 8 <= p->depth; k += 8, y += 8 * ck_gemm_rows) gemm_turn(x + k, p->row_stride, y, ck_gemm_rows);
    for (; k < p->depth; k++, y += ck_gemm_rows) {
      for (size_t r = 0; r < rows; r++) y[r] = x[r * p->row_stride + k * p->depth_stride];
      for (size_t r = rows; r < ck_gemm_rows; r++) y[r] = 0;
    }
  }
}
