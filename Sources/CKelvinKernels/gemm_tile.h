/* Tiles of matrix products: ck_gemm_rows rows by up to three vectors of columns, or by up to four columns. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

enum { gemm_vectors = 3, gemm_width = gemm_vectors * CK_LANES, gemm_narrow = 4 };

/* How many rows of a tile are computed at a time: what the registers hold. */
#if CK_LANES == 16 || defined(__aarch64__)
enum { gemm_tile_rows = 8 };
#else
enum { gemm_tile_rows = 4 };
#endif

CK_INLINE size_t gemm_min(size_t a, size_t b) { return a < b ? a : b; }

typedef struct {
  size_t depth;
  /* [depth][ck_gemm_rows] */
  const float *a;
  /* Vector j of row k is at b + k * b_row + j * b_vector. */
  const float *b;
  size_t b_row, b_vector;
  float *c;
  size_t c_row;
  size_t rows, columns;
  const float *row_bias, *column_bias, *residual;
  float lower, upper;
  /* Whether the sums so far are in c, and whether these are the last. */
  bool continues, finishes;
} gemm_tile;

CK_INLINE void gemm_tile_body(const gemm_tile *t, const size_t vectors) {
  for (size_t first = 0; first < t->rows; first += gemm_tile_rows) {
    vf sums[gemm_tile_rows][gemm_vectors];
    const float *a = t->a + first;
    const float *b = t->b;
    size_t b_row = t->b_row, b_vector = t->b_vector;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < gemm_tile_rows; r++)
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) sums[r][j] = vset(0);
    for (size_t k = t->depth; k > 0; k--, a += ck_gemm_rows, b += b_row) {
      vf x[gemm_vectors];
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) x[j] = vload(b + j * b_vector);
#pragma clang loop unroll(full)
      for (size_t r = 0; r < gemm_tile_rows; r++) {
        vf w = vspread(a, r);
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++) sums[r][j] = vmuladd(w, x[j], sums[r][j]);
#if CK_LANES == 8
        /* The sums and operands fill all 16 registers, as long as rows are not interleaved. */
        __asm__ volatile("" : "+x"(sums[r][0]), "+x"(sums[r][vectors / 2]), "+x"(sums[r][vectors - 1])::"memory");
#endif
      }
    }
    vf lower = vset(t->lower), upper = vset(t->upper);
#pragma clang loop unroll(full)
    for (size_t r = 0; r < gemm_tile_rows; r++) {
      size_t row = first + r;
      if (row >= t->rows) break;
      vf row_bias = vset(t->row_bias ? t->row_bias[row] : 0);
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) {
        size_t column = j * CK_LANES;
        if (column >= t->columns) break;
        size_t n = t->columns - column < CK_LANES ? t->columns - column : CK_LANES;
        float *c = t->c + row * t->c_row + column;
        vf sum = sums[r][j];
        if (t->continues) sum += vload_part(c, n);
        if (t->finishes) {
          sum += row_bias;
          if (t->column_bias) sum += vload_part(t->column_bias + column, n);
          if (t->residual) sum += vload_part(t->residual + row * t->c_row + column, n);
          sum = vatmost(vatleast(sum, lower), upper);
        }
        vstore_part(c, sum, n);
      }
    }
  }
}

/* A tile of few columns: vectors hold the eight rows instead, so that no lane is idle. */
CK_INLINE void gemm_narrow_body(const gemm_tile *t, const size_t columns) {
  typedef float v8 __attribute__((ext_vector_type(ck_gemm_rows)));
  enum { most_ways = 4 };
#if defined(__aarch64__)
  /* What the registers hold. */
  const size_t ways = columns == gemm_narrow ? 2 : most_ways;
#else
  const size_t ways = most_ways;
#endif
  v8 sums[gemm_narrow][most_ways];
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

static void CK_NAME(ck_f32_gemm_8c1)(const gemm_tile *t) { gemm_narrow_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8c2)(const gemm_tile *t) { gemm_narrow_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8c3)(const gemm_tile *t) { gemm_narrow_body(t, 3); }
static void CK_NAME(ck_f32_gemm_8c4)(const gemm_tile *t) { gemm_narrow_body(t, 4); }

static void CK_NAME(ck_f32_gemm_8x1)(const gemm_tile *t) { gemm_tile_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8x2)(const gemm_tile *t) { gemm_tile_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8x3)(const gemm_tile *t) { gemm_tile_body(t, 3); }

static void gemm_compute_tile(const gemm_tile *t) {
  if (t->columns > 2 * CK_LANES) {
    CK_NAME(ck_f32_gemm_8x3)(t);
  } else if (t->columns > CK_LANES) {
    CK_NAME(ck_f32_gemm_8x2)(t);
  } else if (t->columns > gemm_narrow) {
    CK_NAME(ck_f32_gemm_8x1)(t);
  } else if (t->columns == 4) {
    CK_NAME(ck_f32_gemm_8c4)(t);
  } else if (t->columns == 3) {
    CK_NAME(ck_f32_gemm_8c3)(t);
  } else if (t->columns == 2) {
    CK_NAME(ck_f32_gemm_8c2)(t);
  } else {
    CK_NAME(ck_f32_gemm_8c1)(t);
  }
}

/* A tile whose columns are packed in panels of their own, `stride` elements deep. Where a vector is narrower than a
 * panel, one panel at a time. */
static void gemm_compute_packed(const gemm_tile *t, size_t stride) {
  if (CK_LANES == ck_gemm_panel) {
    gemm_tile tile = *t;
    tile.b_vector = ck_gemm_panel * stride;
    gemm_compute_tile(&tile);
    return;
  }
  for (size_t column = 0; column < t->columns; column += ck_gemm_panel)
    for (size_t part = column; part < column + ck_gemm_panel && part < t->columns; part += gemm_width) {
      gemm_tile tile = *t;
      size_t end = column + ck_gemm_panel < t->columns ? column + ck_gemm_panel : t->columns;
      tile.columns = end - part < gemm_width ? end - part : gemm_width;
      tile.b += column * stride + (part - column);
      tile.c += part;
      if (tile.column_bias) tile.column_bias += part;
      if (tile.residual) tile.residual += part;
      gemm_compute_tile(&tile);
    }
}
