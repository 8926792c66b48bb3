/* Tiles of integer products by vectors. */
#pragma once
#include "integer_tile.h"

#if CK_LANES == 16 || defined(__aarch64__)
enum { integer_tile_rows = 6 };
#else
enum { integer_tile_rows = 3 };
#endif

CK_INLINE void integer_tile_body(const integer_tile *t, const size_t vectors, const bool rows_unsigned) {
  (void)rows_unsigned;
  for (size_t first = 0; first < t->rows; first += integer_tile_rows) {
    vw sums[integer_tile_rows][ck_integer_vectors];
    const uint32_t *a = t->a + first, *b = t->b;
    size_t b_row = t->b_row;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < integer_tile_rows; r++)
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) sums[r][j] = (vw)0;
    for (size_t k = t->groups; k > 0; k--, a += ck_integer_rows, b += b_row) {
      vw x[ck_integer_vectors];
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) x[j] = wload(b + j * CK_LANES);
#pragma clang loop unroll(full)
      for (size_t r = 0; r < integer_tile_rows; r++) {
#if defined(CK_NEON)
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++) sums[r][j] = wdot_row(sums[r][j], x[j], a, r);
#else
        vw w = (vw)a[r];
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++)
          sums[r][j] = rows_unsigned ? wdot(sums[r][j], w, x[j]) : wdot(sums[r][j], x[j], w);
#endif
      }
    }
#pragma clang loop unroll(full)
    for (size_t r = 0; r < integer_tile_rows; r++) {
      size_t row = first + r;
      if (row >= t->rows) break;
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) {
        size_t column = j * CK_LANES;
        if (column >= t->columns) break;
        integer_finish(t, row, column, sums[r][j]);
      }
    }
  }
}

#define CK_INTEGER_TILE(vectors)                                                                                   \
  static void CK_NAME(ck_i8_gemm_us_##vectors)(const integer_tile *t) { integer_tile_body(t, vectors, true); }     \
  static void CK_NAME(ck_i8_gemm_su_##vectors)(const integer_tile *t) { integer_tile_body(t, vectors, false); }

CK_INTEGER_TILE(1)
CK_INTEGER_TILE(2)
CK_INTEGER_TILE(3)
CK_INTEGER_TILE(4)

static void integer_compute_tile(const integer_tile *t, bool rows_unsigned) {
  size_t vectors = (t->columns + CK_LANES - 1) / CK_LANES;
  if (vectors == 4) rows_unsigned ? CK_NAME(ck_i8_gemm_us_4)(t) : CK_NAME(ck_i8_gemm_su_4)(t);
  else if (vectors == 3) rows_unsigned ? CK_NAME(ck_i8_gemm_us_3)(t) : CK_NAME(ck_i8_gemm_su_3)(t);
  else if (vectors == 2) rows_unsigned ? CK_NAME(ck_i8_gemm_us_2)(t) : CK_NAME(ck_i8_gemm_su_2)(t);
  else rows_unsigned ? CK_NAME(ck_i8_gemm_us_1)(t) : CK_NAME(ck_i8_gemm_su_1)(t);
}
