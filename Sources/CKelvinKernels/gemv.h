/* Products of a matrix with one vector. */
#pragma once
#include "ck_kernels.h"
#include "gemm_tile.h"

enum { gemv_vectors = ck_gemm_panel / CK_LANES };

/* Adds the products of one number of the vector. */
CK_INLINE void gemv_add(const ck_gemv_args *g, const float *b, size_t k, vf *sums) {
  vf x = vset(g->x[k]);
#pragma clang loop unroll(full)
  for (size_t j = 0; j < gemv_vectors; j++) {
    vf words = vload(b + k / numbers_per_unit * ck_gemm_panel + j * CK_LANES);
    sums[j] = vmuladd(x, packed_numbers(words, k % numbers_per_unit), sums[j]);
  }
}

/* Panels of 16 columns. Several sums at a time hide the latency of the additions. The kernel is limited by memory
 * bandwidth, so words of two numbers are unpacked and the vector is not rounded. */
static void CK_NAME(ck_f32_gemv_16)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  enum { step = 8 / gemv_vectors };
  const ck_gemv_args *g = args;
  for (size_t panel = begin; panel < end; panel++) {
    const float *b =
      g->b + packed_exponents(g->columns, ck_gemm_panel) + panel * ck_gemm_panel * packed_of(g->depth);
    vf sums[step][gemv_vectors] = {0};
    size_t k = 0;
    for (; k + step <= g->depth; k += step)
#pragma clang loop unroll(full)
      for (size_t way = 0; way < step; way++) gemv_add(g, b, k + way, sums[way]);
    for (; k < g->depth; k++) gemv_add(g, b, k, sums[0]);
    for (size_t j = 0; j < gemv_vectors; j++) {
      size_t column = panel * ck_gemm_panel + j * CK_LANES;
      if (column >= g->columns) break;
      size_t n = gemm_min(CK_LANES, g->columns - column);
      vf sum = sums[0][j];
      for (size_t way = 1; way < step; way++) sum += sums[way][j];
#ifdef CK_HALF
      sum = vscale(sum, vload(g->b + column));
#endif
      if (g->epilogue.column_bias) sum += vload_part(g->epilogue.column_bias + column, n);
      if (g->epilogue.residual) sum += vload_part(g->epilogue.residual + column, n);
      sum = vatmost(vatleast(sum, vset(g->epilogue.lower)), vset(g->epilogue.upper));
      vstore_part(g->y + column, sum, n);
    }
    if (g->epilogue.map) {
      float *y = g->y + panel * ck_gemm_panel;
      size_t n = gemm_min(ck_gemm_panel, g->columns - panel * ck_gemm_panel);
      g->epilogue.map(y, y, n, g->epilogue.map_a, g->epilogue.map_b);
    }
  }
}
