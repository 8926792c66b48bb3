/* A tile of an integer product, and how its sums are stored. */
#pragma once
#include "integer_pack.h"

/* The rows that are computed together. */
#ifdef CK_TILES
enum { integer_height = 2 * ck_tile_rows };
#else
enum { integer_height = ck_integer_rows };
#endif

typedef struct {
  size_t groups;
  /* Panels of rows, and [groups][b_row]. */
  const uint32_t *a, *b;
  size_t b_row;
  size_t rows, columns;
  /* Result = sum + row_add + column_add - row_factor * column_factor. */
  uint32_t row_add[integer_height], row_factor[integer_height];
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

/* Stores the sums of a row from a column on. */
CK_INLINE void integer_finish(const integer_tile *t, size_t row, size_t column, vw sum) {
  size_t n = integer_min(CK_LANES, t->columns - column), at = t->c + row * t->c_row + column;
  sum += t->row_add[row];
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

/* The members of ck_integer_kernels that describe panels. */
#define INTEGER_SHAPE \
  .group = CK_INTEGER_GROUP, .unit = integer_unit * CK_INTEGER_GROUP, .rows = integer_panel, .height = integer_height, \
  .width = integer_width
