/* Tiles of matrix products: ck_gemm_rows rows by up to three vectors of columns. */
#pragma once
#include "ck_kernels.h"
#include "packed_operands.h"

enum { gemm_vectors = 3, gemm_width = gemm_vectors * CK_LANES };

/* The number of rows of a tile computed at a time, which fit the registers. */
#if CK_LANES == 16 || defined(__aarch64__)
enum { gemm_tile_rows = 8 };
#else
enum { gemm_tile_rows = 4 };
#endif

CK_INLINE size_t gemm_min(size_t a, size_t b) { return a < b ? a : b; }

typedef struct {
  /* The depth in words. */
  size_t depth;
  /* [depth][ck_gemm_rows], or tiles; the words from a panel of tiles to the next. */
  const float *a;
  size_t a_panel;
  /* Vector j of row k is at b + k * b_row + j * b_vector. */
  const float *b;
  size_t b_row, b_vector;
  float *c;
  size_t c_row;
  size_t rows, columns;
  const float *row_bias, *column_bias, *residual;
  /* The exponents of the scales of float16 operands, otherwise not read. */
  const float *row_exponents, *column_exponents;
  float lower, upper;
  /* Whether c contains the sums so far, and whether these are the last. */
  bool continues, finishes;
} gemm_tile;

/* Stores the vector of sums of a row from column `column` on. */
CK_INLINE void gemm_finish(
  const gemm_tile *t, size_t row, size_t column, vf sum, vf row_bias, vf lower, vf upper) {
  size_t n = gemm_min(t->columns - column, CK_LANES);
  float *c = t->c + row * t->c_row + column;
#ifdef CK_HALF
  sum = vscale(sum, vset(t->row_exponents[row]) + vload_part(t->column_exponents + column, n));
#endif
  if (t->continues) sum += vload_part(c, n);
  if (t->finishes) {
    sum += row_bias;
    if (t->column_bias) sum += vload_part(t->column_bias + column, n);
    if (t->residual) sum += vload_part(t->residual + row * t->c_row + column, n);
    sum = vatmost(vatleast(sum, lower), upper);
  }
  vstore_part(c, sum, n);
}

#ifndef CK_TILES
/* Computes `rows` of a tile from row `first`, a multiple of four because of `vspread`. */
CK_INLINE void gemm_band_body(const gemm_tile *t, size_t first, const size_t rows, const size_t vectors) {
  vf sums[gemm_tile_rows][gemm_vectors];
  packed_wide wide[gemm_tile_rows][gemm_vectors] = {};
  const float *a = t->a + first;
  const float *b = t->b;
  size_t b_row = t->b_row, b_vector = t->b_vector;
#pragma clang loop unroll(full)
  for (size_t r = 0; r < rows; r++)
#pragma clang loop unroll(full)
    for (size_t j = 0; j < vectors; j++) sums[r][j] = vset(0);
  for (size_t left = t->depth, run; left > 0; left -= run) {
    run = packed_run(left);
    for (size_t k = run; k > 0; k--, a += ck_gemm_rows, b += b_row) {
      vf x[gemm_vectors];
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) x[j] = vload(b + j * b_vector);
#pragma clang loop unroll(full)
      for (size_t r = 0; r < rows; r++) {
        vf w = vspread(a, r);
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++) sums[r][j] = packed_muladd(w, x[j], sums[r][j]);
#if CK_LANES == 8
        /* The sums and operands fill all 16 registers if the compiler does not interleave rows. */
        __asm__ volatile("" : "+x"(sums[r][0]), "+x"(sums[r][vectors / 2]), "+x"(sums[r][vectors - 1])::"memory");
#endif
      }
    }
#pragma clang loop unroll(full)
    for (size_t r = 0; r < rows; r++)
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) packed_widen(&sums[r][j], &wide[r][j]);
  }
  vf lower = vset(t->lower), upper = vset(t->upper);
#pragma clang loop unroll(full)
  for (size_t r = 0; r < rows; r++) {
    size_t row = first + r;
    vf row_bias = vset(t->row_bias ? t->row_bias[row] : 0);
#pragma clang loop unroll(full)
    for (size_t j = 0; j < vectors; j++) {
      size_t column = j * CK_LANES;
      if (column >= t->columns) break;
      gemm_finish(t, row, column, packed_total(sums[r][j], &wide[r][j]), row_bias, lower, upper);
    }
  }
}

/* If fewer rows remain than are computed at a time, they have bands of their own, so that no unused rows are
 * computed. */
CK_INLINE void gemm_tile_body(const gemm_tile *t, const size_t vectors) {
  size_t row = 0;
  for (; row + gemm_tile_rows <= t->rows; row += gemm_tile_rows) gemm_band_body(t, row, gemm_tile_rows, vectors);
  if (row + 4 <= t->rows) {
    gemm_band_body(t, row, 4, vectors);
    row += 4;
  }
  switch (t->rows - row) {
    case 3: gemm_band_body(t, row, 3, vectors); break;
    case 2: gemm_band_body(t, row, 2, vectors); break;
    case 1: gemm_band_body(t, row, 1, vectors); break;
  }
}

static void CK_NAME(ck_f32_gemm_8x1)(const gemm_tile *t) { gemm_tile_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8x2)(const gemm_tile *t) { gemm_tile_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8x3)(const gemm_tile *t) { gemm_tile_body(t, 3); }
#endif
