/* The largest element or the mean of each window: rows are joined first, then columns. */
#pragma once
#include "ck_kernels.h"
#include "window.h"

/* Up to this many taps of an axis are read one by one. Longer windows are joined from windows of half the length. */
enum { pool_few_taps = 8 };

typedef struct {
  /* Padded columns and rows that the windows cover. */
  size_t columns, rows;
  /* Elements of a padded row, with space for whole vectors. */
  size_t line;
  /* Elements of a plane whose rows are joined at once; 0 if rows are joined one by one. */
  size_t plane;
} pool_sizes;

CK_INLINE pool_sizes pool_plan(const ck_window *w) {
  pool_sizes p;
  p.columns = (w->out_width - 1) * w->stride_x + (w->kernel_width - 1) * w->dilation_x + 1;
  p.rows = (w->out_height - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1;
  p.line = window_max(p.columns, w->before_x + w->width) + (w->stride_x + 1) * CK_LANES;
  p.plane = w->kernel_height > pool_few_taps ? p.rows * w->width : 0;
  return p;
}

/* The float32 elements of scratch that pooling needs for this window. */
CK_INLINE size_t CK_NAME(ck_pool_elements)(const ck_window *w) {
  if (w->out_width == 0 || w->out_height == 0) return 0;
  pool_sizes p = pool_plan(w);
  return 2 * (p.line + p.plane);
}

CK_INLINE vf pool_join(vf x, vf y, const ck_pool_function function) {
  return function == ck_pool_maximum ? vlarger(x, y) : x + y;
}

/* y[i] = join(x[i], z[i]). `y` may be `x` or before `z`. */
CK_INLINE void pool_join_each(
  const float *x, const float *z, float *y, size_t count, const ck_pool_function function) {
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES) vstore(y + i, pool_join(vload(x + i), vload(z + i), function));
  size_t n = count - i;
  if (n) vstore_part(y + i, pool_join(vload_part(x + i, n), vload_part(z + i, n), function), n);
}

/* Replaces x[i] by the join of `taps` elements from it on, `step` apart; elements whose last tap is beyond `count` are
 * then unspecified. `partial` has space for as many elements. */
CK_INLINE void pool_join_taps(
  float *x, float *partial, size_t count, size_t taps, size_t step, const ck_pool_function function) {
  size_t span = 1;
  if (function == ck_pool_maximum) {
    for (; 2 * span <= taps; span *= 2) {
      count -= span * step;
      pool_join_each(x, x + span * step, x, count, function);
    }
    if (span < taps) pool_join_each(x, x + (taps - span) * step, x, count - (taps - span) * step, function);
    return;
  }
  size_t results = count - (taps - 1) * step;
  for (size_t joined = 0;; span *= 2) {
    if (taps & span) {
      if (joined == 0) memcpy(partial, x, results * sizeof *x);
      else pool_join_each(partial, x + joined * step, partial, results, function);
      joined += span;
    }
    if (joined == taps) break;
    count -= span * step;
    pool_join_each(x, x + span * step, x, count, function);
  }
  memcpy(x, partial, results * sizeof *x);
}

CK_INLINE void pool_fill(float *x, size_t count, const ck_pool_function function) {
  float fill = function == ck_pool_maximum ? -INFINITY : 0;
  for (size_t i = 0; i < count; i++) x[i] = fill;
}

/* Joins all rows of a plane that are in one window, for every padded row. */
static void pool_join_plane(
  const ck_window *w, const pool_sizes *p, const float *x, float *rows, const ck_pool_function function) {
  size_t before = w->before_y < p->rows ? w->before_y : p->rows;
  size_t inside = p->rows - before < w->height ? p->rows - before : w->height;
  size_t after = p->rows - before - inside, width = w->width;
  pool_fill(rows, before * width, function);
  memcpy(rows + before * width, x, inside * width * sizeof *x);
  pool_fill(rows + (before + inside) * width, after * width, function);
  if (function == ck_pool_maximum)
    pool_join_taps(rows, rows + p->plane, p->plane, w->kernel_height, w->dilation_y * width, ck_pool_maximum);
  else pool_join_taps(rows, rows + p->plane, p->plane, w->kernel_height, w->dilation_y * width, ck_pool_average);
}

CK_INLINE void pool_join_few(
  const float *const *rows, const size_t count, float *y, size_t width, const ck_pool_function function) {
  for (size_t i = 0; i < width; i += CK_LANES) {
    size_t n = width - i < CK_LANES ? width - i : CK_LANES;
    vf result = vload_part(rows[0] + i, n);
    for (size_t k = 1; k < count; k++) result = pool_join(result, vload_part(rows[k] + i, n), function);
    vstore_part(y + i, result, n);
  }
}

/* Joins the rows of one row of windows. */
CK_INLINE void pool_join_rows(
  const ck_window *w, const float *x, size_t row, float *y, const ck_pool_function function) {
  const float *rows[pool_few_taps];
  size_t count = 0;
  for (size_t ky = 0; ky < w->kernel_height; ky++) {
    size_t at = row * w->stride_y + ky * w->dilation_y;
    if (at >= w->before_y && at - w->before_y < w->height) rows[count++] = x + (at - w->before_y) * w->width;
  }
  switch (count) {
  case 0: pool_fill(y, w->width, function); break;
  case 1: memcpy(y, rows[0], w->width * sizeof *y); break;
  case 2: pool_join_few(rows, 2, y, w->width, function); break;
  case 3: pool_join_few(rows, 3, y, w->width, function); break;
  default: pool_join_few(rows, count, y, w->width, function);
  }
}

/* CK_LANES elements from `x` on by the stride. */
CK_INLINE vf pool_load(const float *x, const size_t stride) {
  if (stride == 1) return vload(x);
  if (stride == 2) return veven(vload(x), vload(x + CK_LANES));
  vf result = 0;
#pragma clang loop unroll(full)
  for (size_t lane = 0; lane < CK_LANES; lane++) result[lane] = x[lane * stride];
  return result;
}

/* Joins `taps` columns of a padded row and finishes the results. */
CK_INLINE void pool_columns(
  const ck_window_pool_args *p, const float *line, size_t taps, size_t row, float *y, const size_t stride,
  const ck_pool_function function) {
  const ck_window *w = &p->window;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    const float *from = line + x * stride;
    vf result = pool_load(from, stride);
    for (size_t kx = 1; kx < taps; kx++)
      result = pool_join(result, pool_load(from + kx * w->dilation_x, stride), function);
    size_t n = w->out_width - x < CK_LANES ? w->out_width - x : CK_LANES;
    if (function == ck_pool_average) result /= vset(p->row_counts[row]) * vload_part(p->column_counts + x, n);
    vstore_part(y + x, result, n);
  }
}

static inline __attribute__((always_inline)) void pool_plane(
  const ck_window_pool_args *p, const pool_sizes *sizes, const float *x, float *y, float *scratch,
  const ck_pool_function function) {
  const ck_window *w = &p->window;
  float *line = scratch, *partial = scratch + sizes->line, *rows = partial + sizes->line;
  if (sizes->plane) pool_join_plane(w, sizes, x, rows, function);
  pool_fill(line, sizes->line, function);
  for (size_t row = 0; row < w->out_height; row++, y += w->out_width) {
    if (sizes->plane) memcpy(line + w->before_x, rows + row * w->stride_y * w->width, w->width * sizeof *line);
    else pool_join_rows(w, x, row, line + w->before_x, function);
    size_t taps = w->kernel_width;
    if (taps > pool_few_taps) {
      pool_join_taps(line, partial, sizes->columns, taps, w->dilation_x, function);
      taps = 1;
    }
    if (w->stride_x == 1) pool_columns(p, line, taps, row, y, 1, function);
    else if (w->stride_x == 2) pool_columns(p, line, taps, row, y, 2, function);
    else pool_columns(p, line, taps, row, y, w->stride_x, function);
    if (w->kernel_width > pool_few_taps) pool_fill(line, sizes->line, function);
  }
}

static void CK_NAME(ck_f32_window_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_window_pool_args *p = args;
  const ck_window *w = &p->window;
  pool_sizes sizes = pool_plan(w);
  for (size_t plane = begin; plane < end; plane++) {
    const float *x = p->x + plane * w->height * w->width;
    float *y = p->y + plane * w->out_height * w->out_width;
    if (p->function == ck_pool_maximum) pool_plane(p, &sizes, x, y, scratch, ck_pool_maximum);
    else pool_plane(p, &sizes, x, y, scratch, ck_pool_average);
  }
}
