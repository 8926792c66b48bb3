/* Products of a matrix with one vector. */
#pragma once
#include "ck_kernels.h"
#include "gemm_tile.h"

/* Panels of 16 columns: a few sums at a time hide the latency of the additions. */
static void CK_NAME(ck_f32_gemv_16)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  enum { vectors = ck_gemm_panel / CK_LANES, ways = 8 / vectors };
  const ck_gemv_args *g = args;
  for (size_t panel = begin; panel < end; panel++) {
    const float *b = g->b + panel * ck_gemm_panel * g->depth;
    vf sums[ways][vectors] = {0};
    size_t k = 0;
    for (; k + ways <= g->depth; k += ways)
#pragma clang loop unroll(full)
      for (size_t way = 0; way < ways; way++) {
        vf x = vset(g->x[k + way]);
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++)
          sums[way][j] = vmuladd(x, vload(b + (k + way) * ck_gemm_panel + j * CK_LANES), sums[way][j]);
      }
    for (; k < g->depth; k++)
      for (size_t j = 0; j < vectors; j++)
        sums[0][j] = vmuladd(vset(g->x[k]), vload(b + k * ck_gemm_panel + j * CK_LANES), sums[0][j]);
    for (size_t j = 0; j < vectors; j++) {
      size_t column = panel * ck_gemm_panel + j * CK_LANES;
      if (column >= g->columns) break;
      size_t n = gemm_min(CK_LANES, g->columns - column);
      vf sum = sums[0][j];
      for (size_t way = 1; way < ways; way++) sum += sums[way][j];
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
