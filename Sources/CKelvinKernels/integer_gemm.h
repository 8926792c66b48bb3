/* Exact products of 8-bit matrices. With stored elements s = x + shift and zero points shifted alike,
 * sum (a - za)(b - zb) = sum ab - zb (sum a - depth za) - za sum b. */
#pragma once
#include "integer_pack.h"

#if CK_LANES == 16 || defined(__aarch64__)
enum { integer_tile_rows = 6 };
#else
enum { integer_tile_rows = 3 };
#endif

typedef struct {
  size_t groups;
  /* [groups][ck_integer_rows] and [groups], `b_row` words from one group to the next. */
  const uint32_t *a, *b;
  size_t b_row;
  size_t rows, columns;
  /* Result = sum + row_add + column_add - row_factor * column_factor. */
  uint32_t row_add[ck_integer_rows], row_factor[ck_integer_rows];
  const uint32_t *column_add, *column_factor;
  const ck_requantization *output;
  integer_bounds bounds;
  /* Scales by row or by column; the other is null. */
  const float *row_scale, *column_scale;
  /* The epilogue of float32 results, from their first column on. */
  const ck_epilogue *epilogue;
  const float *column_bias;
  size_t c, c_row;
  void *result;
} integer_tile;

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
        size_t n = integer_min(CK_LANES, t->columns - column), at = t->c + row * t->c_row + column;
        vw sum = sums[r][j] + t->row_add[row];
        if (t->column_add) sum += wload(t->column_add + column);
        if (t->column_factor) sum -= (vw)t->row_factor[row] * wload(t->column_factor + column);
        if (t->output->type == ck_int32) {
          if (n == CK_LANES) wstore((int32_t *)t->result + at, sum);
          else memcpy((int32_t *)t->result + at, &sum, n * sizeof(int32_t));
        } else if (t->output->type == ck_float32) {
          /* Each step is a statement, so that no product is fused with a sum. */
          vf real = __builtin_convertvector((vi)sum, vf);
          real = real * vload(t->column_scale + column);
          if (t->column_bias) real = real + vload_part(t->column_bias + column, n);
          if (t->epilogue->residual) real = real + vload_part(t->epilogue->residual + at, n);
          real = vatmost(vatleast(real, vset(t->epilogue->lower)), vset(t->epilogue->upper));
          vstore_part((float *)t->result + at, real, n);
        } else {
          vf scale = t->column_scale ? vload(t->column_scale + column) : vset(t->row_scale[row]);
          wstore_bytes((uint8_t *)t->result + at, integer_requantize(sum, scale, t->bounds), n);
        }
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

static int32_t integer_zero(const ck_integer_operand *o, size_t i, int32_t shift) {
  return integer_value(o->zero + i * o->zero_step, o->is_signed) + shift;
}

static bool integer_has_zeros(const ck_integer_operand *o, size_t first, size_t end, int32_t shift) {
  for (size_t i = first; i < end; i++)
    if (integer_zero(o, i, shift) != 0) return true;
  return false;
}

/* Writes the column sums of a packed panel to `sums`. */
static void integer_sum_columns(const uint32_t *panel, size_t groups, size_t columns, bool is_unsigned, uint32_t *sums) {
  vw ones = (vw)CK_INTEGER_ONES;
  for (size_t j = 0; j < columns; j += CK_LANES) {
    vw sum = 0;
    for (size_t k = 0; k < groups; k++) {
      vw x = wload(panel + k * columns + j);
      sum = is_unsigned ? wdot(sum, x, ones) : wdot(sum, ones, x);
    }
    wstore(sums + j, sum);
  }
}

static void integer_compute_item(
  const ck_integer_gemm_args *g, size_t batch, size_t row, size_t column, uint32_t *scratch) {
  size_t a_index = g->a_index ? g->a_index[batch] : batch % g->a_period;
  size_t b_index = g->b_index ? g->b_index[batch] : batch;
  size_t groups = integer_groups(g->depth);
  bool by_row = g->is_convolution, rows_unsigned = !by_row;
  int32_t a_shift = integer_shift(g->a_operand.is_signed, rows_unsigned);
  int32_t b_shift = integer_shift(g->b_operand.is_signed, !rows_unsigned);
  const ck_requantization *output = &g->output;
  size_t row_end = integer_min(row + g->row_chunk, g->rows), column_end = integer_min(column + g->column_chunk, g->columns);
  /* Rows and their parameters repeat with the period of `a` if they are a group's channels. */
  size_t channel = by_row ? a_index * g->rows : 0;
  bool crosses = by_row ? integer_has_zeros(&g->a_operand, channel + row, channel + row_end, a_shift)
                        : integer_has_zeros(&g->b_operand, column, column_end, b_shift);
  uint32_t sums[integer_width], adds[integer_width], factors[integer_width];
  float scales[integer_width];
  for (size_t j = column; j < column_end; j += integer_width) {
    size_t columns = integer_min(integer_width, column_end - j);
    integer_tile tile = {
      .groups = groups,
      .b = scratch,
      .b_row = (columns + CK_LANES - 1) / CK_LANES * CK_LANES,
      .columns = columns,
      .output = output,
      .bounds = integer_bounds_of(output),
      .epilogue = &g->epilogue,
      .column_bias = g->epilogue.column_bias ? g->epilogue.column_bias + j : NULL,
      .c_row = g->columns,
      .result = g->c,
    };
    const uint32_t *column_sums = sums;
    if (g->kind == ck_columns_packed) {
      tile.b = g->b_packed + b_index * g->b_step + j * (groups + 1);
      tile.b_row = integer_width;
      column_sums = tile.b + groups * integer_width;
    } else {
      integer_pack_panel(g, g->b_operand.data + b_index * g->b_step, j, columns, scratch);
      if (crosses || !by_row) integer_sum_columns(scratch, groups, tile.b_row, !rows_unsigned, sums);
    }
    if (by_row) {
      if (crosses) tile.column_factor = column_sums;
    } else {
      uint32_t a_zero = (uint32_t)integer_zero(&g->a_operand, 0, a_shift);
      float factor = output->type == ck_float32 ? *output->factor : 1;
      for (size_t c = 0; c < integer_width; c++) {
        bool inside = c < columns;
        adds[c] = inside ? (output->bias ? (uint32_t)output->bias[j + c] : 0) - a_zero * column_sums[c] : 0;
        factors[c] = inside ? (uint32_t)integer_zero(&g->b_operand, j + c, b_shift) : 0;
        scales[c] = inside && output->scale ? factor * output->scale[(j + c) * output->scale_step] : 0;
      }
      tile.column_add = adds;
      if (crosses) tile.column_factor = factors;
      if (output->scale) tile.column_scale = scales;
    }
    for (size_t i = row; i < row_end; i += ck_integer_rows) {
      float row_scales[ck_integer_rows];
      tile.a = g->a + a_index * g->a_step + i * (groups + 1);
      tile.rows = integer_min(ck_integer_rows, row_end - i);
      const uint32_t *row_sums = tile.a + groups * ck_integer_rows;
      for (size_t r = 0; r < tile.rows; r++) {
        uint32_t a_zero = (uint32_t)integer_zero(&g->a_operand, by_row ? channel + i + r : 0, a_shift);
        uint32_t centred = row_sums[r] - (uint32_t)g->depth * a_zero;
        tile.row_factor[r] = by_row ? a_zero : centred;
        tile.row_add[r] = 0;
        if (!by_row) continue;
        tile.row_add[r] = (output->bias ? (uint32_t)output->bias[channel + i + r] : 0) -
          (uint32_t)integer_zero(&g->b_operand, 0, b_shift) * centred;
        if (output->scale) row_scales[r] = output->scale[(channel + i + r) * output->scale_step];
      }
      tile.row_scale = row_scales;
      tile.c = batch * g->c_step + i * g->columns + j;
      integer_compute_tile(&tile, integer_stored_unsigned(rows_unsigned));
      if (output->type == ck_float32 && g->epilogue.map)
        for (size_t r = 0; r < tile.rows; r++) {
          float *y = (float *)g->c + tile.c + r * tile.c_row;
          g->epilogue.map(y, y, columns, g->epilogue.map_a, g->epilogue.map_b);
        }
    }
  }
}

static void CK_NAME(ck_i8_gemm)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_integer_gemm_args *g = args;
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    integer_compute_item(
      g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
}
