/* Exact products of 8-bit matrices. With stored elements s = x + shift and zero points shifted alike,
 * sum (a - za)(b - zb) = sum ab - zb (sum a - depth za) - za sum b. */
#pragma once
#ifdef CK_TILES
#include "tile_integers.h"
#else
#include "integer_vectors.h"
#endif
#include "tile_unit.h"

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
      .b_row = integer_row_of(columns),
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
    for (size_t i = row; i < row_end; i += integer_height) {
      float row_scales[integer_height];
      tile.a = g->a + a_index * g->a_step + i * (groups + 1);
      tile.rows = integer_min(integer_height, row_end - i);
      for (size_t r = 0; r < tile.rows; r++) {
        uint32_t a_zero = (uint32_t)integer_zero(&g->a_operand, by_row ? channel + i + r : 0, a_shift);
        const uint32_t *panel = tile.a + r / integer_panel * integer_panel * (groups + 1);
        uint32_t centred = panel[groups * integer_panel + r % integer_panel] - (uint32_t)g->depth * a_zero;
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
  tiles_begin();
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    integer_compute_item(
      g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
  tiles_end();
}
