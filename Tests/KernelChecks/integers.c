/* Exact products and windows of 8-bit integers. */
#include "check.h"

static size_t random_size(void) { return PICK(1, 2, 3, 5, 6, 7, 11, 12, 13, 16, 17, 31, 33, 63, 65, 80); }

/* A product in which `a` and `b` have any strides. */
typedef struct {
  ck_integer_gemm_args args;
  size_t a_row, a_column, a_step;
} product;

static product random_product(const ck_kernels *k, const ck_integer_kernels *own, bool is_tiled) {
  product p = {.args = {.rows = random_size(), .columns = random_size(), .depth = random_size(), .batches = between(1, 2)}};
  ck_integer_gemm_args *g = &p.args;
  g->a_period = between(1, g->batches);
  g->is_convolution = !is_tiled && one_in(2);
  g->kind = g->is_convolution ? PICK(ck_columns_of_image, ck_columns_strided) : PICK(ck_columns_strided, ck_columns_packed);
  bool turns_a = one_in(2), turns_b = one_in(3);
  if (g->kind == ck_columns_of_image) {
    g->window = random_window(false);
    size_t channels = between(1, 3);
    g->columns = g->window.out_height * g->window.out_width;
    g->depth = channels * g->window.kernel_height * g->window.kernel_width;
    g->b_step = channels * g->window.height * g->window.width;
  } else {
    g->b_row_stride = turns_b ? 1 : g->columns;
    g->b_column_stride = turns_b ? g->depth : 1;
    g->b_step = g->depth * g->columns;
  }
  p.a_row = turns_a ? 1 : g->depth;
  p.a_column = turns_a ? g->rows : 1;
  p.a_step = g->rows * g->depth;
  g->a_operand = random_operand(g->a_period * p.a_step, g->is_convolution ? g->a_period * g->rows : 1);
  g->b_operand = random_operand(g->batches * g->b_step, g->is_convolution ? 1 : g->columns);
  g->row_chunk = own->height * between(1, 4);
  g->column_chunk = own->width * between(1, 2);
  g->c_step = g->rows * g->columns;
  g->output = random_requantization(g->is_convolution ? g->a_period * g->rows : g->columns, g->depth, false);
  if (!g->is_convolution && one_in(3)) {
    g->output = (ck_requantization){.type = ck_float32, .scale_step = g->columns > 1 && one_in(2)};
    g->output.scale = reals(g->output.scale_step ? g->columns : 1, 0.001f, 0.02f);
    g->output.factor = reals(1, 0.01f, 1);
    g->epilogue = random_epilogue(k, 0, g->columns, g->batches * g->c_step);
  }
  g->c = memory(g->batches * g->c_step * (g->output.type == ck_int32 || g->output.type == ck_float32 ? 4 : 1));
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
    "%zu x %zu x %zu, %zu batches, kind %d, convolution %d, signed %d %d, to %d, chunks %zu %zu", g->rows, g->columns,
    g->depth, g->batches, (int)g->kind, g->is_convolution, g->a_operand.is_signed, g->b_operand.is_signed,
    (int)g->output.type, g->row_chunk, g->column_chunk);
  return p;
}

/* An element less its zero point; padding is zero. */
static int32_t column_element(const product *p, size_t b, size_t k, size_t column) {
  const ck_integer_gemm_args *g = &p->args;
  const ck_integer_operand *o = &g->b_operand;
  if (g->kind != ck_columns_of_image)
    return operand_value(o, b * g->b_step + k * g->b_row_stride + column * g->b_column_stride) - operand_zero(o, column);
  const ck_window *w = &g->window;
  size_t taps = w->kernel_height * w->kernel_width, tap = k % taps, at;
  if (!tap_inside(w, column / w->out_width, column % w->out_width, tap / w->kernel_width, tap % w->kernel_width, &at))
    return 0;
  return operand_value(o, b * g->b_step + k / taps * w->height * w->width + at) - operand_zero(o, 0);
}

static void pack(product *p, const ck_integer_kernels *k) {
  ck_integer_gemm_args *g = &p->args;
  size_t step = ck_integer_packed_count(k, g->rows, k->rows, g->depth);
  ck_integer_pack_args a = {
    .x = g->a_operand.data, .y = memory(g->a_period * step * 4), .is_signed = g->a_operand.is_signed,
    .is_unsigned = !g->is_convolution, .lines = g->rows, .depth = g->depth, .line_stride = p->a_row,
    .depth_stride = p->a_column, .x_step = p->a_step, .y_step = step};
  run_all(k->pack_rows, &a, g->a_period * parts(g->rows, k->rows), 0);
  g->a = a.y;
  g->a_step = step;
}

static const uint32_t *packed_columns(const ck_integer_gemm_args *g, const ck_integer_kernels *k, size_t *step) {
  *step = ck_integer_packed_count(k, g->columns, k->width, g->depth);
  ck_integer_pack_args b = {
    .x = g->b_operand.data, .y = memory(g->batches * *step * 4), .is_signed = g->b_operand.is_signed,
    .is_unsigned = g->is_convolution, .lines = g->columns, .depth = g->depth, .line_stride = g->b_column_stride,
    .depth_stride = g->b_row_stride, .x_step = g->b_step, .y_step = *step};
  run_all(k->pack_columns, &b, g->batches * parts(g->columns, k->width), 0);
  return b.y;
}

static void integer_gemm_of(const ck_kernels *kernels, const ck_integer_kernels *k, bool is_tiled) {
  product p = random_product(kernels, k, is_tiled);
  ck_integer_gemm_args *g = &p.args, given = *g;
  pack(&p, k);
  if (g->kind == ck_columns_packed) g->b_packed = packed_columns(&given, k, &g->b_step);
  size_t items = g->batches * parts(g->rows, g->row_chunk) * parts(g->columns, g->column_chunk);
  run_all(k->gemm, g, items, 4 * k->width * parts(g->depth, k->unit) * (k->unit / k->group));
  g->b_step = given.b_step;
  for (size_t i = 0; i < g->batches * g->c_step; i++) {
    size_t batch = i / g->c_step, row = i % g->c_step / g->columns, column = i % g->columns;
    size_t a = g->a_index ? g->a_index[batch] : batch % g->a_period, b = g->b_index ? g->b_index[batch] : batch;
    size_t channel = g->is_convolution ? a * g->rows + row : column;
    uint32_t sum = 0;
    for (size_t d = 0; d < g->depth; d++) {
      int32_t x = operand_value(&g->a_operand, a * p.a_step + row * p.a_row + d * p.a_column) -
        operand_zero(&g->a_operand, g->is_convolution ? channel : 0);
      sum += (uint32_t)(x * column_element(&p, b, d, column));
    }
    if (g->output.type == ck_float32) {
      float scale = *g->output.factor * g->output.scale[column * g->output.scale_step];
      double result = (double)((float)(int32_t)sum * scale);
      expect_finished(&g->epilogue, row, column, i, result, fabs(result), ((const float *)g->c)[i]);
    } else {
      expect_requantized(&g->output, channel, i, sum, g->c);
    }
  }
}

INTEGER_CHECKS(integer_gemm)

/* Numbers that are now and then all alike, of one sign or not finite. */
static float *random_numbers(size_t count) {
  float least = one_in(4) ? 0 : -3, most = one_in(4) ? least : one_in(4) ? -1 : 5;
  if (one_in(8)) least = most = 0;
  float *x = reals(count, least, most);
  if (one_in(5)) x[draw() % count] = (const float[]){NAN, INFINITY, -INFINITY, 0x1p-149f}[draw() % 4];
  return x;
}

static void find_range(const ck_kernels *kernels, const float *x, size_t count, float *bounds) {
  ck_range_args r = {.x = x, .bounds = bounds, .count = count};
  run_all(kernels->integer->range, &r, parts(count, ck_map_chunk), 0);
}

void check_range(const ck_kernels *kernels) {
  size_t count = one_in(3) ? ck_map_chunk + random_size() : random_size();
  const float *x = random_numbers(count);
  float *bounds = unset(2 * parts(count, ck_map_chunk));
  describe("%zu numbers", count);
  find_range(kernels, x, count, bounds);
  for (size_t chunk = 0; chunk < parts(count, ck_map_chunk); chunk++) {
    float least = INFINITY, most = -INFINITY;
    for (size_t i = chunk * ck_map_chunk; i < count && i < (chunk + 1) * ck_map_chunk; i++) {
      least = isnan(x[i]) || isnan(least) ? NAN : fminf(least, x[i]);
      most = fmaxf(most, x[i]);
    }
    expect_real(2 * chunk, (double)least, 0, bounds[2 * chunk]);
    if (!isnan(least)) expect_real(2 * chunk + 1, (double)most, 0, bounds[2 * chunk + 1]);
  }
}

/* Quantized rows are the packed rows of the integers that ONNX defines. */
static void quantize_rows_of(const ck_kernels *kernels, const ck_integer_kernels *k, bool is_tiled) {
  (void)is_tiled;
  size_t lines = random_size(), depth = random_size(), count = lines * depth, chunks = parts(count, ck_map_chunk);
  size_t words = ck_integer_packed_count(k, lines, k->rows, depth);
  const float *x = random_numbers(count);
  float *bounds = unset(2 * chunks), *scale = unset(1);
  describe("%zu x %zu", lines, depth);
  find_range(kernels, x, count, bounds);
  uint8_t *zero = memory(1), *bytes = memory(count);
  ck_quantize_rows_args q = {
    .x = x, .y = memory(4 * words), .lines = lines, .depth = depth, .bounds = bounds, .chunks = chunks, .scale = scale,
    .zero = zero};
  run_all(k->quantize_rows, &q, parts(lines, k->rows), depth);
  float least = 0, most = 0;
  bool is_number = true;
  for (size_t i = 0; i < count; i++) {
    if (isnan(x[i])) is_number = false;
    least = fminf(least, x[i]);
    most = fmaxf(most, x[i]);
  }
  float step = !is_number ? NAN : most == least ? 1 : (most - least) / 255, place = nearbyintf(0 - least / step);
  uint8_t offset = isnan(place) ? 0 : (uint8_t)fminf(fmaxf(place, 0), 255);
  expect_real(0, (double)step, 0, *scale);
  expect_integer(0, offset, *zero);
  for (size_t i = 0; i < count; i++) {
    float y = nearbyintf(x[i] / step) + (float)offset;
    bytes[i] = isnan(y) ? 0 : (uint8_t)fminf(fmaxf(y, 0), 255);
  }
  ck_integer_pack_args packing = {
    .x = bytes, .y = memory(4 * words), .is_unsigned = true, .lines = lines, .depth = depth, .line_stride = depth,
    .depth_stride = 1};
  run_all(k->pack_rows, &packing, parts(lines, k->rows), 0);
  for (size_t i = 0; i < words; i++) expect_integer(i, packing.y[i], q.y[i]);
}

INTEGER_CHECKS(quantize_rows)

void check_integer_depthwise(const ck_kernels *kernels) {
  ck_window w = random_window_in_bands(false);
  size_t images = between(1, 2), multiplier = between(1, 2), area = w.height * w.width;
  size_t taps = w.kernel_height * w.kernel_width, out_area = w.out_height * w.out_width;
  ck_integer_depthwise_args d = {.in_channels = between(1, 3), .window = w};
  d.out_channels = d.in_channels * multiplier;
  d.x = random_operand(images * d.in_channels * area, 1);
  d.weights = random_operand(d.out_channels * taps, d.out_channels);
  d.output = random_requantization(d.out_channels, taps, false);
  d.y = memory(images * d.out_channels * out_area * (d.output.type == ck_int32 ? 4 : 1));
  describe_window(&w, "channels in, out, type", d.in_channels, d.out_channels, d.output.type);
  run_all(kernels->integer->depthwise, &d, images * d.out_channels, kernels->integer->depthwise_scratch(&w));
  for (size_t i = 0; i < images * d.out_channels * out_area; i++) {
    size_t channel = i / out_area % d.out_channels, image = i / out_area / d.out_channels, at;
    uint32_t sum = 0;
    for (size_t tap = 0; tap < taps; tap++) {
      size_t row = i % out_area / w.out_width, column = i % w.out_width;
      if (!tap_inside(&w, row, column, tap / w.kernel_width, tap % w.kernel_width, &at)) continue;
      int32_t x = operand_value(&d.x, (image * d.in_channels + channel / multiplier) * area + at);
      int32_t weight = operand_value(&d.weights, channel * taps + tap) - operand_zero(&d.weights, channel);
      sum += (uint32_t)((x - operand_zero(&d.x, 0)) * weight);
    }
    expect_requantized(&d.output, channel, i, sum, d.y);
  }
}

void check_integer_pool(const ck_kernels *kernels) {
  ck_window w = random_window(true);
  size_t planes = between(1, 4), area = w.height * w.width, out_area = w.out_height * w.out_width;
  ck_integer_operand x = random_operand(planes * area, 1);
  ck_integer_pool_args p = {.x = x.data, .y = memory(planes * out_area), .is_signed = x.is_signed, .window = w};
  describe_window(&w, "planes, signed", planes, x.is_signed, 0);
  run_all(kernels->integer->pool, &p, planes, 0);
  for (size_t i = 0; i < planes * out_area; i++) {
    int32_t most = x.is_signed ? -128 : 0;
    size_t at;
    for (size_t ky = 0; ky < w.kernel_height; ky++)
      for (size_t kx = 0; kx < w.kernel_width; kx++) {
        if (!tap_inside(&w, i % out_area / w.out_width, i % w.out_width, ky, kx, &at)) continue;
        int32_t value = operand_value(&x, i / out_area * area + at);
        most = value > most ? value : most;
      }
    expect_integer(i, most, x.is_signed ? (int8_t)p.y[i] : p.y[i]);
  }
}
