/* Columns as codes: products of few and of many rows, and gathers. */
#include "check.h"

/* Coded columns and the numbers that they stand for, [columns][depth]. */
typedef struct {
  ck_coded_columns c;
  float *numbers;
} coded;

static coded random_coded(bool is_biased) {
  coded w = {.c = {.bits = PICK(2, 4, 4, 8), .block = PICK(1, 3, 8, 16, 20, 32, 41, 64, 100)}};
  ck_coded_columns *c = &w.c;
  c->columns = PICK(1, 5, 15, 16, 17, 31, 33, 48, 49, 97);
  c->depth = c->block * between(1, 4);
  c->kind = is_biased ? PICK(ck_codes_scaled, ck_codes_scaled, ck_codes_biased, ck_codes_entries)
                      : PICK(ck_codes_scaled, ck_codes_entries);
  bool is_table = c->kind == ck_codes_entries;
  if (is_table) c->bits = 4;
  c->has_zeros = c->kind == ck_codes_scaled && one_in(2);
  if (c->kind == ck_codes_scaled && !c->has_zeros) c->zero = (float)between(0, 200);
  ck_code_parameters p = {.run = is_table ? PICK(16, 32, 1000) : PICK(1, 2, 5, 16, 1000), .length = is_table ? 16 : 1};
  size_t blocks = c->depth / c->block, rows = parts(c->columns, p.run) * blocks;
  p.first = reals(rows * p.length, -1, 1);
  float *second = unset(rows);
  for (size_t i = 0; i < rows; i++) second[i] = c->has_zeros ? (float)between(0, 255) : real(-1, 1);
  if (c->has_zeros || c->kind == ck_codes_biased) p.second = second;
  describe(
    "%zu columns, depth %zu, blocks of %zu, %zu bits, kind %d, zeros %d, runs of %zu", c->columns, c->depth, c->block,
    c->bits, (int)c->kind, c->has_zeros, p.run);
  uint8_t *records = memory(ck_coded_byte_count(c));
  c->records = records;
  w.numbers = unset(c->columns * c->depth);
  for (size_t first = 0; first < c->columns; first += ck_gemm_panel) {
    size_t count = c->columns - first < ck_gemm_panel ? c->columns - first : ck_gemm_panel;
    uint8_t *codes = bytes(count * c->depth);
    for (size_t i = 0; i < count * c->depth; i++) {
      codes[i] &= (uint8_t)((1u << c->bits) - 1);
      size_t at = (first + i / c->depth) / p.run * blocks + i % c->depth / c->block;
      float code = codes[i], offset = p.second ? p.second[at] : c->zero;
      w.numbers[first * c->depth + i] = is_table ? p.first[at * 16 + codes[i]]
        : c->kind == ck_codes_scaled             ? p.first[at] * (code - offset)
                                                 : fmaf(p.first[at], code, offset);
    }
    ck_pack_coded_panel(c, first / ck_gemm_panel, codes, &p, records);
  }
  return w;
}

static void expect_rows(
  const coded *w, const float *x, size_t rows, ck_operands type, const ck_epilogue *e, const float *y) {
  size_t depth = w->c.depth, columns = w->c.columns;
  for (size_t row = 0; row < rows; row++)
    for (size_t j = 0; j < columns; j++) {
      double sum = 0, magnitude = 0;
      for (size_t i = 0; i < depth; i++) {
        double term =
          (double)operand_of(type, x[row * depth + i]) * (double)operand_of(type, w->numbers[j * depth + i]);
        sum += term;
        magnitude += fabs(term);
      }
      expect_finished(e, row, j, row * columns + j, sum, magnitude, y[row * columns + j]);
    }
}

void check_coded(const ck_kernels *k) {
  coded w = random_coded(true);
  ck_coded_args a = {.b = w.c, .rows = between(1, ck_coded_rows)};
  float *x = reals(a.rows * w.c.depth, -1, 1);
  /* Products without their scales exceed float32, those with them do not. */
  if (one_in(8) && w.c.kind == ck_codes_scaled)
    for (size_t i = 0; i < a.rows * w.c.depth; i++) x[i] = i % w.c.depth ? 0 : 0x1p120f * x[i];
  a.x = x;
  a.y = unset(a.rows * w.c.columns);
  a.epilogue = random_epilogue(k, 0, w.c.columns, a.rows * w.c.columns);
  run_all(k->coded, &a, parts(w.c.columns, ck_gemm_panel), 0);
  expect_rows(&w, x, a.rows, ck_operands_float32, &a.epilogue, a.y);
}

static void coded_gemm_of(const ck_kernels *k, const ck_product_kernels *own, ck_operands type) {
  /* Biased numbers may be rounded twice, which leads to another bfloat16. */
  coded w = random_coded(type == ck_operands_float32);
  bool is_tiled = type == ck_operands_tiles;
  size_t rows = between(1, is_tiled ? 70 : 20), depth = w.c.depth;
  size_t height = is_tiled ? 2 * ck_tile_rows : ck_gemm_rows, step = is_tiled ? ck_tile_words : 1;
  size_t width = is_tiled ? 2 * ck_tile_words : ck_gemm_packed_width;
  ck_pack_rows_args p = {
    .x = reals(rows * depth, -1, 1), .rows = rows, .depth = depth, .row_stride = depth, .depth_stride = 1};
  p.y = unset(ck_packed_rows_count(rows, depth, type));
  run_all(own->pack_rows, &p, parts(rows, ck_packed_panel(type)), 0);
  ck_gemm_args g = {
    .rows = rows, .columns = w.c.columns, .depth = ck_packed_count(type, depth), .batches = 1, .a = p.y, .a_period = 1,
    .c_row_stride = w.c.columns, .kind = ck_columns_coded, .coded = w.c, .row_chunk = height * between(1, 4),
    .column_chunk = width * between(1, 3)};
  g.depth_chunk = step * (one_in(2) ? between(1, 40 / step) : g.depth + 1);
  g.c = unset(rows * w.c.columns);
  g.epilogue = random_epilogue(k, rows, w.c.columns, rows * w.c.columns);
  size_t deepest = g.depth < g.depth_chunk ? g.depth : g.depth_chunk;
  run_all(
    own->gemm, &g, parts(rows, g.row_chunk) * parts(w.c.columns, g.column_chunk),
    g.column_chunk * deepest * sizeof(float));
  expect_rows(&w, p.x, rows, type, &g.epilogue, g.c);
}

PRODUCT_CHECKS(coded_gemm)

void check_gather_coded(const ck_kernels *k) {
  (void)k;
  coded w = random_coded(false);
  size_t count = between(1, 6);
  int64_t *indices = memory(count * sizeof *indices);
  for (size_t i = 0; i < count; i++) {
    size_t column = between(0, w.c.columns - 1);
    indices[i] = one_in(2) ? (int64_t)column : (int64_t)column - (int64_t)w.c.columns;
  }
  ck_fault fault = {0};
  ck_gather_coded_args g = {
    .x = w.c, .indices = indices, .y = unset(count * w.c.depth), .fault = &fault, .index_type = ck_int64};
  run_all(ck_gather_coded_run, &g, count, 0);
  for (size_t i = 0; i < count; i++) {
    size_t column = (size_t)(indices[i] < 0 ? indices[i] + (int64_t)w.c.columns : indices[i]);
    for (size_t j = 0; j < w.c.depth; j++)
      expect_real(i * w.c.depth + j, (double)w.numbers[column * w.c.depth + j], 0, g.y[i * w.c.depth + j]);
  }
}
