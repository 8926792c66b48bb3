/* Tiles of matrix products with up to four columns. Vectors hold the eight rows instead of columns, so that all
 * lanes are used. Words have one number. */
#pragma once
#include "gemm_tile.h"

enum { gemm_few_columns = 4 };

CK_INLINE void gemm_few_columns_body(const gemm_tile *t, const size_t columns) {
  typedef float v8 __attribute__((ext_vector_type(ck_gemm_rows)));
  enum { most_ways = 4 };
#if defined(__aarch64__)
  /* The number of sums that the registers hold. */
  const size_t ways = columns == gemm_few_columns ? 2 : most_ways;
#else
  const size_t ways = most_ways;
#endif
  v8 sums[gemm_few_columns][most_ways];
#pragma clang loop unroll(full)
  for (size_t j = 0; j < columns; j++)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < most_ways; way++) sums[j][way] = (v8)(0.0f);
  size_t k = 0;
  for (; k + ways <= t->depth; k += ways)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < ways; way++) {
      v8 w;
      memcpy(&w, t->a + (k + way) * ck_gemm_rows, sizeof w);
#pragma clang loop unroll(full)
      for (size_t j = 0; j < columns; j++) sums[j][way] = w * (v8)(t->b[(k + way) * t->b_row + j]) + sums[j][way];
    }
  for (; k < t->depth; k++) {
    v8 w;
    memcpy(&w, t->a + k * ck_gemm_rows, sizeof w);
#pragma clang loop unroll(full)
    for (size_t j = 0; j < columns; j++) sums[j][0] = w * (v8)(t->b[k * t->b_row + j]) + sums[j][0];
  }
#pragma clang loop unroll(full)
  for (size_t j = 0; j < columns; j++) {
    float sum[ck_gemm_rows];
    v8 total = (sums[j][0] + sums[j][1]) + (sums[j][2] + sums[j][3]);
    memcpy(sum, &total, sizeof sum);
    for (size_t row = 0; row < t->rows; row++) {
      size_t at = row * t->c_row + j;
      float x = sum[row];
      if (t->continues) x += t->c[at];
      if (t->finishes) {
        if (t->row_bias) x += t->row_bias[row];
        if (t->column_bias) x += t->column_bias[j];
        if (t->residual) x += t->residual[at];
        x = t->lower > x ? t->lower : x;
        x = t->upper < x ? t->upper : x;
      }
      t->c[at] = x;
    }
  }
}

static void CK_NAME(ck_f32_gemm_8c1)(const gemm_tile *t) { gemm_few_columns_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8c2)(const gemm_tile *t) { gemm_few_columns_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8c3)(const gemm_tile *t) { gemm_few_columns_body(t, 3); }
static void CK_NAME(ck_f32_gemm_8c4)(const gemm_tile *t) { gemm_few_columns_body(t, 4); }

static void gemm_compute_few_columns(const gemm_tile *t) {
  if (t->columns == 4) {
    CK_NAME(ck_f32_gemm_8c4)(t);
  } else if (t->columns == 3) {
    CK_NAME(ck_f32_gemm_8c3)(t);
  } else if (t->columns == 2) {
    CK_NAME(ck_f32_gemm_8c2)(t);
  } else {
    CK_NAME(ck_f32_gemm_8c1)(t);
  }
}
