/* Products of a few rows with columns as codes, which are unpacked in registers. */
#pragma once
#include "coded.h"

/* The distance at which codes are loaded ahead, in words: the processor alone stops at the end of each page. */
enum { coded_ahead = 1024 };

/* Adds the products of a block for `rows` rows of x, `depth` apart, to their sums. The scale is applied once to the sum
 * of a block. Several partial sums hide the latency of the additions. */
CK_INLINE void coded_add_block(
  const coded_block *b, const float *x, size_t depth, size_t block, const size_t rows, const size_t bits,
  const int kind, vf *sums) {
  enum { partials = ck_coded_rows };
  const size_t codes = 32 / bits, half = 16 / bits, ways = partials / rows;
  vf partial[partials] = {0};
  size_t k = 0;
  for (; k + codes <= block; k += codes) {
    const float *words = b->words + k / codes * ck_gemm_panel;
    __builtin_prefetch(words + coded_ahead);
    vi all = vbits(vload(words));
#pragma clang loop unroll(full)
    for (size_t i = 0; i < codes; i++) {
      vf number = coded_numbers(b, i < half ? all : all >> 16, i % half * bits, bits, kind);
#pragma clang loop unroll(full)
      for (size_t r = 0; r < rows; r++)
        partial[r * ways + i % ways] = vmuladd(vset(x[r * depth + k + i]), number, partial[r * ways + i % ways]);
    }
  }
  for (; k < block; k++) {
    vf number = coded_number(b, k, bits, kind);
#pragma clang loop unroll(full)
    for (size_t r = 0; r < rows; r++) partial[r * ways] = vmuladd(vset(x[r * depth + k]), number, partial[r * ways]);
  }
#pragma clang loop unroll(full)
  for (size_t r = 0; r < rows; r++) {
    vf sum = partial[r * ways];
#pragma clang loop unroll(full)
    for (size_t way = 1; way < ways; way++) sum += partial[r * ways + way];
    sums[r] = coded_needs_scale(kind) ? vmuladd(sum, b->scale, sums[r]) : sums[r] + sum;
  }
}

CK_INLINE void coded_sums(
  const ck_coded_args *a, const float *x, size_t panel, size_t lane, const size_t rows, const size_t bits,
  const int kind, vf *sums) {
  const ck_coded_columns *c = &a->b;
  float differences[ck_gemm_panel];
  for (size_t code = 0; code < ck_gemm_panel; code++) differences[code] = (float)code - c->zero;
#pragma clang loop unroll(full)
  for (size_t r = 0; r < rows; r++) sums[r] = vset(0);
  for (size_t k = 0, index = 0; k < c->depth; k += c->block, index++) {
    coded_block b = coded_block_at(c, panel, index, lane);
    if (kind == coded_differences) b.table = differences;
    coded_add_block(&b, x + k, c->depth, c->block, rows, bits, kind, sums);
  }
}

/* The sum of a row whose products without their scales exceed the numbers of float32. */
__attribute__((cold, noinline)) static vf CK_NAME(coded_careful_sum)(
  const ck_coded_columns *c, const float *x, size_t panel, size_t lane) {
  vf sum = vset(0);
  for (size_t k = 0; k < c->depth; k++) {
    coded_block b = coded_block_at(c, panel, k / c->block, lane);
    vf number;
#define CODED_CAREFUL(bits, kind) number = coded_finished(&b, coded_number(&b, k % c->block, bits, kind), kind)
    CODED_KINDS(c, CODED_CAREFUL)
#undef CODED_CAREFUL
    sum = vmuladd(vset(x[k]), number, sum);
  }
  return sum;
}

CK_INLINE bool coded_is_finite(vf x) {
#if CK_LANES == 16
  return !_mm512_cmp_ps_mask((__m512)(x - x), _mm512_setzero_ps(), _CMP_NEQ_UQ);
#else
  vf rest = vabs(x - x);
  return vsum(rest) == 0;
#endif
}

CK_INLINE void coded_finish(const ck_coded_args *a, size_t row, size_t panel, size_t lane, vf sum) {
  size_t column = panel * ck_gemm_panel + lane;
  if (column >= a->b.columns) return;
  size_t n = gemm_min(CK_LANES, a->b.columns - column), at = row * a->b.columns + column;
  if (!coded_is_finite(sum)) sum = CK_NAME(coded_careful_sum)(&a->b, a->x + row * a->b.depth, panel, lane);
  if (a->epilogue.column_bias) sum += vload_part(a->epilogue.column_bias + column, n);
  if (a->epilogue.residual) sum += vload_part(a->epilogue.residual + at, n);
  vstore_part(a->y + at, vatmost(vatleast(sum, vset(a->epilogue.lower)), vset(a->epilogue.upper)), n);
}

CK_INLINE void coded_compute_rows(
  const ck_coded_args *a, size_t row, size_t panel, const size_t rows, const size_t bits, const int kind) {
  for (size_t lane = 0; lane < ck_gemm_panel; lane += CK_LANES) {
    vf sums[ck_coded_rows];
    coded_sums(a, a->x + row * a->b.depth, panel, lane, rows, bits, kind, sums);
#pragma clang loop unroll(full)
    for (size_t r = 0; r < rows; r++) coded_finish(a, row + r, panel, lane, sums[r]);
  }
}

CK_INLINE void coded_compute(const ck_coded_args *a, size_t panel, const size_t bits, const int kind) {
  size_t row = 0;
  for (; row + 4 <= a->rows; row += 4) coded_compute_rows(a, row, panel, 4, bits, kind);
  if (row + 2 <= a->rows) {
    coded_compute_rows(a, row, panel, 2, bits, kind);
    row += 2;
  }
  if (row < a->rows) coded_compute_rows(a, row, panel, 1, bits, kind);
}

static void CK_NAME(ck_coded)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_coded_args *a = args;
  for (size_t panel = begin; panel < end; panel++) {
#define CODED_COMPUTE(bits, kind) coded_compute(a, panel, bits, kind)
    /* One instruction of AVX-512 looks up 16 entries. */
    if (CK_LANES == 16 && a->b.kind == ck_codes_scaled && a->b.bits == 4 && !a->b.has_zeros)
      CODED_COMPUTE(4, coded_differences);
    else CODED_KINDS(&a->b, CODED_COMPUTE)
#undef CODED_COMPUTE
    if (!a->epilogue.map) continue;
    size_t column = panel * ck_gemm_panel, n = gemm_min(ck_gemm_panel, a->b.columns - column);
    for (size_t row = 0; row < a->rows; row++) {
      float *y = a->y + row * a->b.columns + column;
      a->epilogue.map(y, y, n, a->epilogue.map_a, a->epilogue.map_b);
    }
  }
}
