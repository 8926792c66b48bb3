/* Selects the tile by the number of remaining columns. */
#pragma once
#include "gemm_tile.h"
#ifndef CK_PAIRS
#include "gemm_few_columns.h"
#endif

static void gemm_compute_tile(const gemm_tile *t) {
  if (t->columns > 2 * CK_LANES) {
    CK_NAME(ck_f32_gemm_8x3)(t);
  } else if (t->columns > CK_LANES) {
    CK_NAME(ck_f32_gemm_8x2)(t);
#ifndef CK_PAIRS
  } else if (t->columns <= gemm_few_columns) {
    gemm_compute_few_columns(t);
#endif
  } else {
    CK_NAME(ck_f32_gemm_8x1)(t);
  }
}

/* Computes a tile whose columns are packed in separate panels, `stride` elements deep. If a vector is narrower than
 * a panel, it computes one panel at a time. */
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
      if (tile.column_exponents) tile.column_exponents += part;
      gemm_compute_tile(&tile);
    }
}
