/* Matrix products. */
#include "check.h"

/* A matrix with its strides, in memory that ends with its last element. */
typedef struct {
  const float *x;
  size_t step, row, column;
} matrices;

static matrices random_matrices(size_t count, size_t rows, size_t columns, bool is_dense) {
  size_t gap = one_in(2) ? between(0, 5) : 0;
  matrices m = {.row = columns + gap, .column = 1};
  if (one_in(2)) m = (matrices){.row = 1, .column = rows + gap};
  if (!is_dense && one_in(4)) m = (matrices){.row = 2 * columns + gap, .column = 2};
  m.step = rows && columns ? (rows - 1) * m.row + (columns - 1) * m.column + 1 + gap : 0;
  m.x = reals(count && m.step ? count * m.step - gap : 0, -1, 1);
  return m;
}

/* Products computed without the kernels. */
typedef struct {
  matrices a, b;
  ck_operands type;
  size_t depth;
  ck_gemm_args args;
} product;

static size_t random_size(void) { return PICK(1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 23, 24, 31, 36, 49, 97); }

static product random_product(const ck_kernels *k, ck_operands type, bool is_dense) {
  product p = {.type = type, .args = {.rows = random_size(), .columns = random_size(), .batches = between(1, 3)}};
  p.args.depth = one_in(20) ? 0 : random_size();
  ck_gemm_args *g = &p.args;
  g->a_period = between(1, g->batches);
  g->kind = type != ck_operands_float32 ? ck_columns_packed
    : is_dense                          ? PICK(ck_columns_of_image, ck_columns_strided)
                                        : PICK(ck_columns_of_image, ck_columns_strided, ck_columns_packed);
  if (g->kind == ck_columns_of_image) {
    g->window = random_window(false);
    size_t channels = between(1, 3);
    g->columns = g->window.out_height * g->window.out_width;
    g->depth = channels * g->window.kernel_height * g->window.kernel_width;
    g->b_step = channels * g->window.height * g->window.width;
    p.b.x = g->b = reals(g->batches * g->b_step, -1, 1);
  } else {
    p.b = random_matrices(g->batches, g->depth, g->columns, is_dense);
    g->b = p.b.x;
    g->b_step = p.b.step;
    g->b_row_stride = p.b.row;
    g->b_column_stride = p.b.column;
    g->transposes_b = p.b.column != 1;
  }
  p.a = random_matrices(g->a_period, g->rows, g->depth, is_dense);
  size_t width = g->kind == ck_columns_packed ? ck_gemm_packed_width : k->gemm_width, height = ck_gemm_rows, step = 1;
  if (type == ck_operands_tiles) {
    height = width = 2 * ck_tile_rows;
    step = ck_tile_words;
  }
  p.depth = g->depth;
  g->row_chunk = height * between(1, 4);
  g->column_chunk = width * between(1, 3);
  g->depth_chunk = step * (one_in(2) ? between(1, 40 / step) : g->depth + 1);
  g->c_row_stride = g->columns + (one_in(2) ? between(0, 3) : 0);
  g->c_step = g->rows * g->c_row_stride;
  size_t count = g->batches * g->c_step - (g->c_row_stride - g->columns);
  g->c = unset(count);
  g->epilogue = random_epilogue(k, g->a_period * g->rows, g->columns, count);
  if (one_in(4)) {
    size_t *a = memory(g->batches * sizeof *a), *b = memory(g->batches * sizeof *b);
    for (size_t i = 0; i < g->batches; i++) {
      a[i] = between(0, g->a_period - 1);
      b[i] = between(0, g->batches - 1);
    }
    g->a_index = a;
    g->b_index = b;
  }
  describe(
    "%zu x %zu x %zu, %zu batches, period %zu, kind %d, chunks %zu %zu %zu, strides of b %zu %zu", g->rows, g->columns,
    g->depth, g->batches, g->a_period, (int)g->kind, g->row_chunk, g->column_chunk, g->depth_chunk, g->b_row_stride,
    g->b_column_stride);
  return p;
}

static double column_element(const product *p, size_t b, size_t k, size_t column) {
  const ck_gemm_args *g = &p->args;
  if (g->kind != ck_columns_of_image)
    return (double)operand_of(p->type, p->b.x[b * p->b.step + k * p->b.row + column * p->b.column]);
  const ck_window *w = &g->window;
  size_t area = w->kernel_height * w->kernel_width, tap = k % area, at;
  if (!tap_inside(w, column / w->out_width, column % w->out_width, tap / w->kernel_width, tap % w->kernel_width, &at))
    return 0;
  return (double)p->b.x[b * g->b_step + k / area * w->height * w->width + at];
}

static void expect_product(const product *p) {
  const ck_gemm_args *g = &p->args;
  for (size_t batch = 0; batch < g->batches; batch++) {
    size_t a = g->a_index ? g->a_index[batch] : batch % g->a_period, b = g->b_index ? g->b_index[batch] : batch;
    for (size_t row = 0; row < g->rows; row++) {
      size_t at = batch * g->c_step + row * g->c_row_stride;
      for (size_t column = 0; column < g->columns; column++) {
        double sum = 0, magnitude = 0;
        for (size_t k = 0; k < p->depth; k++) {
          float x = p->a.x[a * p->a.step + row * p->a.row + k * p->a.column];
          double term = (double)operand_of(p->type, x) * column_element(p, b, k, column);
          sum += term;
          magnitude += fabs(term);
        }
        magnitude *= loss_of(p->type);
        expect_finished(&g->epilogue, a * g->rows + row, column, at + column, sum, magnitude, g->c[at + column]);
      }
      if (batch + 1 < g->batches || row + 1 < g->rows)
        for (size_t i = g->columns; i < g->c_row_stride; i++) expect_untouched(at + i, g->c[at + i]);
    }
  }
}

static size_t items_of(const ck_gemm_args *g) {
  return g->batches * parts(g->rows, g->row_chunk) * parts(g->columns, g->column_chunk);
}

static float plain_half(uint32_t bits) {
  int exponent = (int)(bits >> 10 & 31);
  double fraction = bits & 0x3FF, magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return (float)(bits >> 15 & 1 ? -magnitude : magnitude);
}

/* Number `k` of a line of words, the words `width` apart. */
static float number_of(ck_operands type, const float *words, size_t width, size_t k) {
  if (type == ck_operands_float32) return words[k * width];
  uint32_t bits;
  memcpy(&bits, words + k / 2 * width, sizeof bits);
  if (type == ck_operands_float16) return plain_half(k % 2 ? bits >> 16 : bits & 0xFFFF);
  bits = k % 2 ? bits & 0xFFFF0000 : bits << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static ck_pack_rows_args packed_rows(
  const ck_product_kernels *k, ck_operands type, const matrices *x, size_t count, size_t rows, size_t depth) {
  ck_pack_rows_args p = {
    .x = x->x, .rows = rows, .depth = depth, .row_stride = x->row, .depth_stride = x->column, .x_step = x->step,
    .y_step = ck_packed_rows_count(rows, depth, type)};
  p.y = unset(count * p.y_step);
  run_all(k->pack_rows, &p, count * parts(rows, ck_packed_panel(type)), 0);
  return p;
}

static void gemm_of(const ck_kernels *k, const ck_product_kernels *own, ck_operands type) {
  product p = random_product(k, type, false);
  ck_gemm_args *g = &p.args;
  ck_pack_rows_args rows = packed_rows(own, type, &p.a, g->a_period, g->rows, g->depth);
  g->a = rows.y;
  g->a_step = rows.y_step;
  if (g->kind == ck_columns_packed) {
    g->b_step = ck_packed_columns_count(g->columns, g->depth, type);
    float *packed = unset(g->batches * g->b_step);
    for (size_t i = 0; i < g->batches; i++)
      ck_pack_columns(
        p.b.x + i * p.b.step, g->columns, g->depth, p.b.column, p.b.row, type, packed + i * g->b_step);
    g->b = packed;
  }
  g->depth = ck_packed_count(type, g->depth);
  size_t depth = g->depth < g->depth_chunk ? g->depth : g->depth_chunk;
  size_t scratch = parts(g->column_chunk, k->gemm_width) * k->gemm_width * depth * sizeof(float);
  run_all(own->gemm, g, items_of(g), g->kind == ck_columns_packed ? 0 : scratch);
  expect_product(&p);
}

PRODUCT_CHECKS(gemm)

/* The behaviour of a BLAS library, including the arguments that it rejects. */
static void plain_sgemm(
  int order, int transpose_a, int transpose_b, int m, int n, int depth, float alpha, const float *a, int lda,
  const float *b, int ldb, float beta, float *c, int ldc) {
  enum { row_major = 101, transpose = 112 };
  bool turns_a = transpose_a == transpose, turns_b = transpose_b == transpose;
  expect_integer(0, row_major, order);
  expect_integer(1, 1, lda >= (turns_a ? m : depth) && ldb >= (turns_b ? depth : n) && ldc >= n);
  expect_integer(2, 1, alpha == 1 && beta == 0);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < depth; k++)
        sum += (double)(turns_a ? a[k * lda + i] : a[i * lda + k]) * (double)(turns_b ? b[j * ldb + k] : b[k * ldb + j]);
      c[i * ldc + j] = (float)sum;
    }
}

void check_gemm_blas(const ck_kernels *k) {
  product p = random_product(k, ck_operands_float32, true);
  ck_gemm_args *g = &p.args;
  g->a = p.a.x;
  g->a_step = p.a.step;
  g->a_row_stride = p.a.row;
  g->a_depth_stride = p.a.column;
  g->transposes_a = p.a.column != 1;
  g->depth_chunk = g->depth;
  g->sgemm = plain_sgemm;
  size_t scratch = parts(g->column_chunk, k->gemm_width) * k->gemm_width * g->depth * sizeof(float);
  run_all(k->gemm_blas, g, items_of(g), g->kind == ck_columns_of_image ? scratch : 0);
  expect_product(&p);
}

static void gemv_of(const ck_kernels *k, const ck_product_kernels *own, ck_operands type) {
  ck_gemv_args g = {.columns = random_size(), .depth = one_in(20) ? 0 : random_size()};
  describe("%zu columns, depth %zu", g.columns, g.depth);
  matrices w = random_matrices(1, g.columns, g.depth, false);
  float *packed = unset(ck_packed_columns_count(g.columns, g.depth, type));
  ck_pack_columns(w.x, g.columns, g.depth, w.row, w.column, type, packed);
  g.x = reals(g.depth, -1, 1);
  g.b = packed;
  g.y = unset(g.columns);
  g.epilogue = random_epilogue(k, 0, g.columns, g.columns);
  run_all(own->gemv, &g, parts(g.columns, ck_gemm_panel), 0);
  for (size_t j = 0; j < g.columns; j++) {
    double sum = 0, magnitude = 0;
    for (size_t i = 0; i < g.depth; i++) {
      double term = (double)g.x[i] * (double)operand_of(type, w.x[j * w.row + i * w.column]);
      sum += term;
      magnitude += fabs(term);
    }
    expect_finished(&g.epilogue, 0, j, j, sum, magnitude, g.y[j]);
  }
}

PRODUCT_CHECKS(gemv)

/* Number `k` of a row of `lines` packed rows, `words` words deep. */
static float packed_number(ck_operands type, const float *packed, size_t lines, size_t words, size_t row, size_t k) {
  size_t panel = ck_packed_panel(type);
  if (type == ck_operands_float16) {
    float scale = ldexpf(1, (int)packed[row]);
    return scale * number_of(type, packed + lines + row / panel * panel * words + row % panel, panel, k);
  }
  packed += row / panel * panel * words;
  if (type != ck_operands_tiles) return number_of(type, packed + row % panel, panel, k);
  packed += k / 2 / ck_tile_words * ck_tile_rows * ck_tile_words + row % panel * ck_tile_words;
  return number_of(type, packed, 1, k % (2 * ck_tile_words));
}

static void pack_rows_of(const ck_kernels *k, const ck_product_kernels *own, ck_operands type) {
  (void)k;
  size_t rows = random_size(), depth = random_size(), batches = between(1, 3);
  matrices x = random_matrices(batches, rows, depth, false);
  describe("%zu rows, depth %zu, %zu batches, strides %zu %zu", rows, depth, batches, x.row, x.column);
  ck_pack_rows_args p = packed_rows(own, type, &x, batches, rows, depth);
  size_t words = ck_packed_count(type, depth), panel = ck_packed_panel(type), lines = parts(rows, panel) * panel;
  for (size_t i = 0; i < batches * lines; i++) {
    size_t batch = i / lines, row = i % lines;
    for (size_t d = 0; d < (type == ck_operands_float32 ? 1 : 2) * words; d++) {
      bool is_there = row < rows && d < depth;
      float expected = is_there ? operand_of(type, x.x[batch * x.step + row * x.row + d * x.column]) : 0;
      /* Numbers far below the largest one of a row are denormals of float16. */
      double slack = type == ck_operands_float16 ? 0x1p-27 : 0;
      expect_real(i, (double)expected, slack, packed_number(type, p.y + batch * p.y_step, lines, words, row, d));
    }
  }
}

PRODUCT_CHECKS(pack_rows)
