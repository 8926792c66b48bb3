/* Matrix products: a tile of ck_gemm_rows x up to three vectors in registers, the columns packed panel by panel. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"
#include "window.h"

enum { gemm_vectors = 3, gemm_width = gemm_vectors * CK_LANES, gemm_narrow = 4 };

/* How many rows of a tile are computed at a time: what the registers hold. */
#if CK_LANES == 16 || defined(__aarch64__)
enum { gemm_tile_rows = 8 };
#else
enum { gemm_tile_rows = 4 };
#endif

CK_INLINE size_t gemm_min(size_t a, size_t b) { return a < b ? a : b; }

typedef struct {
  size_t depth;
  /* [depth][ck_gemm_rows] */
  const float *a;
  /* Vector j of row k is at b + k * b_row + j * b_vector. */
  const float *b;
  size_t b_row, b_vector;
  float *c;
  size_t c_row;
  size_t rows, columns;
  const float *row_bias, *column_bias, *residual;
  float lower, upper;
  /* Whether the sums so far are in c, and whether these are the last. */
  bool continues, finishes;
} gemm_tile;

CK_INLINE void gemm_tile_body(const gemm_tile *t, const size_t vectors) {
  for (size_t first = 0; first < t->rows; first += gemm_tile_rows) {
    vf sums[gemm_tile_rows][gemm_vectors];
    const float *a = t->a + first;
    const float *b = t->b;
    size_t b_row = t->b_row, b_vector = t->b_vector;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < gemm_tile_rows; r++)
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) sums[r][j] = vset(0);
    for (size_t k = t->depth; k > 0; k--, a += ck_gemm_rows, b += b_row) {
      vf x[gemm_vectors];
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) x[j] = vload(b + j * b_vector);
#pragma clang loop unroll(full)
      for (size_t r = 0; r < gemm_tile_rows; r++) {
        vf w = vset(a[r]);
#pragma clang loop unroll(full)
        for (size_t j = 0; j < vectors; j++) sums[r][j] = vmuladd(w, x[j], sums[r][j]);
#if CK_LANES == 8
        /* The sums and operands fill all 16 registers, as long as rows are not interleaved. */
        __asm__ volatile("" : "+x"(sums[r][0]), "+x"(sums[r][vectors / 2]), "+x"(sums[r][vectors - 1])::"memory");
#endif
      }
    }
    vf lower = vset(t->lower), upper = vset(t->upper);
#pragma clang loop unroll(full)
    for (size_t r = 0; r < gemm_tile_rows; r++) {
      size_t row = first + r;
      if (row >= t->rows) break;
      vf row_bias = vset(t->row_bias ? t->row_bias[row] : 0);
#pragma clang loop unroll(full)
      for (size_t j = 0; j < vectors; j++) {
        size_t column = j * CK_LANES;
        if (column >= t->columns) break;
        size_t n = t->columns - column < CK_LANES ? t->columns - column : CK_LANES;
        float *c = t->c + row * t->c_row + column;
        vf sum = sums[r][j];
        if (t->continues) sum += vload_part(c, n);
        if (t->finishes) {
          sum += row_bias;
          if (t->column_bias) sum += vload_part(t->column_bias + column, n);
          if (t->residual) sum += vload_part(t->residual + row * t->c_row + column, n);
          sum = vatmost(vatleast(sum, lower), upper);
        }
        vstore_part(c, sum, n);
      }
    }
  }
}

/* A tile of few columns: vectors hold the eight rows instead, so that no lane is idle. */
CK_INLINE void gemm_narrow_body(const gemm_tile *t, const size_t columns) {
  typedef float v8 __attribute__((ext_vector_type(ck_gemm_rows)));
  enum { ways = 4 };
  v8 sums[gemm_narrow][ways];
#pragma clang loop unroll(full)
  for (size_t j = 0; j < columns; j++)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < ways; way++) sums[j][way] = (v8)(0.0f);
  size_t k = 0;
  for (; k + ways <= t->depth; k += ways)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < ways; way++) {
      v8 w;
      memcpy(&w, t->a + (k + way) * ck_gemm_rows, sizeof w);
#pragma clang loop unroll(full)
      for (size_t j = 0; j < columns; j++) sums[j][way] = w * (v8)(t->b[(k + way) * t->b_row + j]) + sums[j][way];
    }
  for (; k < t->depth; k++) {
    v8 w;
    memcpy(&w, t->a + k * ck_gemm_rows, sizeof w);
#pragma clang loop unroll(full)
    for (size_t j = 0; j < columns; j++) sums[j][0] = w * (v8)(t->b[k * t->b_row + j]) + sums[j][0];
  }
#pragma clang loop unroll(full)
  for (size_t j = 0; j < columns; j++) {
    float sum[ck_gemm_rows];
    v8 total = (sums[j][0] + sums[j][1]) + (sums[j][2] + sums[j][3]);
    memcpy(sum, &total, sizeof sum);
    for (size_t row = 0; row < t->rows; row++) {
      size_t at = row * t->c_row + j;
      float x = sum[row];
      if (t->continues) x += t->c[at];
      if (t->finishes) {
        if (t->row_bias) x += t->row_bias[row];
        if (t->column_bias) x += t->column_bias[j];
        if (t->residual) x += t->residual[at];
        x = t->lower > x ? t->lower : x;
        x = t->upper < x ? t->upper : x;
      }
      t->c[at] = x;
    }
  }
}

static void CK_NAME(ck_f32_gemm_8c1)(const gemm_tile *t) { gemm_narrow_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8c2)(const gemm_tile *t) { gemm_narrow_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8c3)(const gemm_tile *t) { gemm_narrow_body(t, 3); }
static void CK_NAME(ck_f32_gemm_8c4)(const gemm_tile *t) { gemm_narrow_body(t, 4); }

static void CK_NAME(ck_f32_gemm_8x1)(const gemm_tile *t) { gemm_tile_body(t, 1); }
static void CK_NAME(ck_f32_gemm_8x2)(const gemm_tile *t) { gemm_tile_body(t, 2); }
static void CK_NAME(ck_f32_gemm_8x3)(const gemm_tile *t) { gemm_tile_body(t, 3); }

static void gemm_compute_tile(const gemm_tile *t) {
  if (t->columns > 2 * CK_LANES) {
    CK_NAME(ck_f32_gemm_8x3)(t);
  } else if (t->columns > CK_LANES) {
    CK_NAME(ck_f32_gemm_8x2)(t);
  } else if (t->columns > gemm_narrow) {
    CK_NAME(ck_f32_gemm_8x1)(t);
  } else if (t->columns == 4) {
    CK_NAME(ck_f32_gemm_8c4)(t);
  } else if (t->columns == 3) {
    CK_NAME(ck_f32_gemm_8c3)(t);
  } else if (t->columns == 2) {
    CK_NAME(ck_f32_gemm_8c2)(t);
  } else {
    CK_NAME(ck_f32_gemm_8c1)(t);
  }
}

/* A tile whose columns are packed in panels of their own, `stride` elements deep. Where a vector is narrower than a
 * panel, one panel at a time. */
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
      gemm_compute_tile(&tile);
    }
}

/* Packs rows `depth_begin` to `depth_end` of columns `first` to `first + count` as [depth][gemm_width], zero-filled,
 * `pitch` elements from row to row. */
static void gemm_pack_strided(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  for (size_t k = depth_begin; k < depth_end; k++, to += pitch) {
    const float *from = b + k * g->b_row_stride + first * g->b_column_stride;
    if (g->b_column_stride == 1 && count == gemm_width) {
      for (size_t j = 0; j < gemm_vectors; j++) vstore(to + j * CK_LANES, vload(from + j * CK_LANES));
    } else if (g->b_column_stride == 1) {
      for (size_t j = 0; j < gemm_width; j += CK_LANES)
        vstore(to + j, j < count ? vload_part(from + j, gemm_min(CK_LANES, count - j)) : vset(0));
    } else {
      for (size_t j = 0; j < count; j++) to[j] = from[j * g->b_column_stride];
      for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    }
  }
}

/* Columns of consecutive output pixels of one row of the image. */
typedef struct {
  size_t start, count;
  ptrdiff_t y, x;
} gemm_run;

static void gemm_pack_image(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  const ck_window *w = &g->window;
  gemm_run runs[gemm_width];
  size_t run_count = 0;
  for (size_t done = 0; done < count;) {
    size_t row = (first + done) / w->out_width, column = (first + done) % w->out_width;
    size_t length = w->out_width - column < count - done ? w->out_width - column : count - done;
    runs[run_count++] = (gemm_run){
      done, length, (ptrdiff_t)(row * w->stride_y) - (ptrdiff_t)w->before_y,
      (ptrdiff_t)(column * w->stride_x) - (ptrdiff_t)w->before_x};
    done += length;
  }
  size_t area = w->kernel_height * w->kernel_width;
  size_t channel = depth_begin / area, ky = depth_begin % area / w->kernel_width, kx = depth_begin % w->kernel_width;
  const float *plane = b + channel * w->height * w->width;
  for (size_t k = depth_begin; k < depth_end; k++, to += pitch) {
    ptrdiff_t dy = (ptrdiff_t)(ky * w->dilation_y), dx = (ptrdiff_t)(kx * w->dilation_x);
    for (size_t i = 0; i < run_count; i++)
      window_copy_row(w, plane, runs[i].y + dy, runs[i].x + dx, to + runs[i].start, runs[i].count, 0);
    for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    if (++kx == w->kernel_width) {
      kx = 0;
      if (++ky == w->kernel_height) {
        ky = 0;
        plane += w->height * w->width;
      }
    }
  }
}

static void gemm_pack(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  if (g->kind == ck_columns_of_image) gemm_pack_image(g, b, depth_begin, depth_end, first, count, to, pitch);
  else gemm_pack_strided(g, b, depth_begin, depth_end, first, count, to, pitch);
}

/* One chunk of rows times one chunk of columns of one batch. */
static void gemm_compute_item(const ck_gemm_args *g, size_t batch, size_t row, size_t column, float *panels) {
  size_t a_index = g->a_index ? g->a_index[batch] : batch % g->a_period;
  size_t b_index = g->b_index ? g->b_index[batch] : batch;
  const float *a = g->a + a_index * g->a_step;
  const float *b = g->b + b_index * g->b_step;
  float *c = g->c + batch * g->c_step;
  size_t row_end = gemm_min(row + g->row_chunk, g->rows);
  size_t column_end = gemm_min(column + g->column_chunk, g->columns);
  size_t width = g->kind == ck_columns_packed ? ck_gemm_packed_width : gemm_width;
  size_t k = 0;
  do {
    size_t depth = gemm_min(g->depth_chunk, g->depth - k);
    if (g->kind != ck_columns_packed)
      for (size_t j = column, panel = 0; j < column_end; j += gemm_width, panel++)
        gemm_pack(
          g, b, k, k + depth, j, gemm_min(gemm_width, column_end - j), panels + panel * depth * gemm_width,
          gemm_width);
    for (size_t i = row; i < row_end; i += ck_gemm_rows) {
      for (size_t j = column; j < column_end; j += width) {
        gemm_tile tile = {
          .depth = depth,
          .a = a + (i * g->depth + k * ck_gemm_rows),
          .c = c + i * g->c_row_stride + j,
          .c_row = g->c_row_stride,
          .rows = gemm_min(ck_gemm_rows, row_end - i),
          .columns = gemm_min(width, column_end - j),
          .lower = g->epilogue.lower,
          .upper = g->epilogue.upper,
          .continues = k > 0,
          .finishes = k + depth == g->depth,
        };
        if (g->epilogue.row_bias) tile.row_bias = g->epilogue.row_bias + a_index * g->rows + i;
        if (g->epilogue.column_bias) tile.column_bias = g->epilogue.column_bias + j;
        if (g->epilogue.residual) tile.residual = g->epilogue.residual + (tile.c - g->c);
        if (g->kind == ck_columns_packed) {
          tile.b = b + j * g->depth + k * ck_gemm_panel;
          tile.b_row = ck_gemm_panel;
          tile.b_vector = CK_LANES;
          gemm_compute_packed(&tile, g->depth);
        } else {
          tile.b = panels + (j - column) * depth;
          tile.b_row = gemm_width;
          tile.b_vector = CK_LANES;
          gemm_compute_tile(&tile);
        }
        if (tile.finishes && g->epilogue.map)
          for (size_t r = 0; r < tile.rows; r++) {
            float *y = tile.c + r * tile.c_row;
            g->epilogue.map(y, y, tile.columns, g->epilogue.map_a, g->epilogue.map_b);
          }
      }
    }
    k += depth;
  } while (k < g->depth);
}

static void CK_NAME(ck_f32_gemm)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_gemm_args *g = args;
  size_t row_chunks = (g->rows + g->row_chunk - 1) / g->row_chunk;
  size_t column_chunks = (g->columns + g->column_chunk - 1) / g->column_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t column = item % column_chunks, row = item / column_chunks % row_chunks;
    gemm_compute_item(
      g, item / column_chunks / row_chunks, row * g->row_chunk, column * g->column_chunk, scratch);
  }
}

static void CK_NAME(ck_f32_pack_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_pack_rows_args *p = args;
  size_t panels = (p->rows + ck_gemm_rows - 1) / ck_gemm_rows;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % panels * ck_gemm_rows;
    const float *x = p->x + item / panels * p->x_step + first * p->row_stride;
    float *y = p->y + item / panels * p->y_step + first * p->depth;
    size_t rows = gemm_min(ck_gemm_rows, p->rows - first);
    for (size_t k = 0; k < p->depth; k++, y += ck_gemm_rows) {
      for (size_t r = 0; r < rows; r++) y[r] = x[r * p->row_stride + k * p->depth_stride];
      for (size_t r = rows; r < ck_gemm_rows; r++) y[r] = 0;
    }
  }
}

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
