/* Packs rows of a matrix product panel by panel. */
#pragma once
#include "ck_kernels.h"
#include "gemm_tile.h"

typedef float gemm_line __attribute__((ext_vector_type(ck_gemm_rows)));

/* Loads eight words. */
CK_INLINE void gemm_load_line(const float *x, float factor, gemm_line *line) {
#ifdef CK_PAIRS
  for (size_t i = 0; i < ck_gemm_rows; i += unit_lanes)
    packed_store((float *)line + i, packed_scaled(vload(x + i * numbers_per_unit), factor));
#else
  (void)factor;
  memcpy(line, x, sizeof *line);
#endif
}

/* Transposes eight words of each of eight rows, `stride` elements apart, to rows `pitch` apart. */
CK_INLINE void gemm_turn(const float *x, size_t stride, const float factors[ck_gemm_rows], float *y, size_t pitch) {
  gemm_line r[8], s[8];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < 8; i++) gemm_load_line(x + i * stride, factors[i], r + i);
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

/* The factors of rows that have no scale. */
static const float gemm_no_factors[ck_gemm_rows] = {1, 1, 1, 1, 1, 1, 1, 1};

#ifdef CK_HALF
/* Writes the exponents and factors of the scales of up to ck_gemm_rows rows. */
static void gemm_scale_rows(
  const float *x, size_t rows, size_t depth, size_t row_stride, size_t depth_stride, float exponents[ck_gemm_rows],
  float factors[ck_gemm_rows]) {
  for (size_t r = 0; r < ck_gemm_rows; r++) {
    const float *row = x + r * row_stride;
    float largest = 0;
    vf most = vset(0);
    size_t k = 0, count = r < rows ? depth : 0;
    if (depth_stride == 1)
      for (; k + CK_LANES <= count; k += CK_LANES) {
        vf magnitude = vabs(vload(row + k));
        most = vselect((magnitude > most) & (magnitude <= vset(FLT_MAX)), magnitude, most);
      }
    for (; k < count; k++) largest = half_larger(largest, row[k * depth_stride]);
    for (size_t lane = 0; lane < CK_LANES; lane++) largest = half_larger(largest, most[lane]);
    exponents[r] = half_exponent(largest);
    factors[r] = half_factor(exponents[r]);
  }
}
#endif

/* Packs up to ck_gemm_rows rows as [words][ck_gemm_rows], zero-filled. */
static void gemm_pack_rows(
  const float *x, size_t rows, size_t depth, size_t row_stride, size_t depth_stride,
  const float factors[ck_gemm_rows], float *y) {
  size_t k = 0;
  if (rows == ck_gemm_rows && depth_stride == 1)
    for (; (k + 8) * numbers_per_unit <= depth; k += 8)
      gemm_turn(x + k * numbers_per_unit, row_stride, factors, y + k * ck_gemm_rows, ck_gemm_rows);
  for (; k * numbers_per_unit < depth; k++)
    for (size_t r = 0; r < ck_gemm_rows; r++)
      y[k * ck_gemm_rows + r] = r < rows
        ? packed_gather(
            x + r * row_stride + k * numbers_per_unit * depth_stride, depth_stride, depth - k * numbers_per_unit,
            factors[r])
        : 0;
}

static void CK_NAME(ck_f32_pack_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_pack_rows_args *p = args;
  size_t panels = (p->rows + ck_gemm_rows - 1) / ck_gemm_rows;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % panels * ck_gemm_rows, rows = gemm_min(ck_gemm_rows, p->rows - first);
    const float *x = p->x + item / panels * p->x_step + first * p->row_stride, *factors = gemm_no_factors;
    float *y = p->y + item / panels * p->y_step;
#ifdef CK_HALF
    float own[ck_gemm_rows];
    gemm_scale_rows(x, rows, p->depth, p->row_stride, p->depth_stride, y + first, own);
    factors = own;
#endif
    y += packed_exponents(p->rows, ck_gemm_rows) + first * packed_of(p->depth);
    gemm_pack_rows(x, rows, p->depth, p->row_stride, p->depth_stride, factors, y);
  }
}
