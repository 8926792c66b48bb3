/* Matrix products by a BLAS library, for hosts whose instruction set has no tile of its own. */
#pragma once
#include "gemm.h"

static size_t gemm_max(size_t x, size_t y) { return x > y ? x : y; }

enum { blas_row_major = 101, blas_no_transpose = 111, blas_transpose = 112 };

static void gemm_blas_finish(const ck_epilogue *e, const float *row_bias, float *c, size_t at, size_t first, size_t n) {
  float *y = c + at;
  for (size_t j = 0; j < n; j += CK_LANES) {
    size_t part = gemm_min(CK_LANES, n - j);
    vf sum = vload_part(y + j, part) + vset(row_bias ? *row_bias : 0);
    if (e->column_bias) sum += vload_part(e->column_bias + first + j, part);
    if (e->residual) sum += vload_part(e->residual + at + j, part);
    vstore_part(y + j, vatmost(vatleast(sum, vset(e->lower)), vset(e->upper)), part);
  }
  if (e->map) e->map(y, y, n, e->map_a, e->map_b);
}

static void gemm_blas_item(const ck_gemm_args *g, size_t batch, size_t row, size_t column, float *packed) {
  size_t a_index = g->a_index ? g->a_index[batch] : batch % g->a_period;
  size_t b_index = g->b_index ? g->b_index[batch] : batch;
  const float *a = g->a + a_index * g->a_step + row * g->a_row_stride;
  const float *b = g->b + b_index * g->b_step;
  size_t rows = gemm_min(g->row_chunk, g->rows - row), columns = gemm_min(g->column_chunk, g->columns - column);
  bool transposes_b = g->kind == ck_columns_strided && g->transposes_b;
  size_t b_stride;
  if (g->kind == ck_columns_of_image) {
    b_stride = (columns + gemm_width - 1) / gemm_width * gemm_width;
    for (size_t j = 0; j < columns; j += gemm_width)
      gemm_pack(g, b, 0, g->depth, column + j, gemm_min(gemm_width, columns - j), packed + j, b_stride);
    b = packed;
  } else {
    b_stride = transposes_b ? g->b_column_stride : g->b_row_stride;
    b += column * g->b_column_stride;
  }
  /* The stride along an axis of one element is arbitrary, but BLAS rejects a stride shorter than a stored row. */
  size_t a_stride = g->transposes_a ? g->a_depth_stride : g->a_row_stride;
  size_t lda = gemm_max(a_stride, g->transposes_a ? rows : g->depth);
  size_t ldb = gemm_max(b_stride, transposes_b ? g->depth : columns), ldc = gemm_max(g->c_row_stride, columns);
  size_t at = batch * g->c_step + row * g->c_row_stride + column;
  if (g->depth == 0)
    for (size_t i = 0; i < rows; i++) memset(g->c + at + i * g->c_row_stride, 0, columns * sizeof(float));
  else
    g->sgemm(
      blas_row_major, g->transposes_a ? blas_transpose : blas_no_transpose,
      transposes_b ? blas_transpose : blas_no_transpose, (int)rows, (int)columns, (int)g->depth, 1, a,
      (int)lda, b, (int)ldb, 0, g->c + at, (int)ldc);
  for (size_t i = 0; i < rows; i++) {
    const float *row_bias = g->epilogue.row_bias ? g->epilogue.row_bias + a_index * g->rows + row + i : 0;
    gemm_blas_finish(&g->epilogue, row_bias, g->c, at + i * g->c_row_stride, column, columns);
  }
}

static void CK_NAME(ck_f32_gemm_blas)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_gemm_args *g = args;
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    gemm_blas_item(g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
}
