/* Real numbers to integers and back, and functions of integers that stand for real numbers. */
#include "check.h"

static size_t size_of(ck_scalar type) {
  return type == ck_int32 ? 4 : type == ck_int16 || type == ck_uint16 ? 2 : 1;
}

static int64_t lowest(ck_scalar type) {
  return type == ck_int32 ? INT32_MIN : type == ck_int16 ? INT16_MIN : type == ck_int8 ? INT8_MIN : 0;
}

static int64_t highest(ck_scalar type) { return lowest(type) + (((int64_t)1 << (8 * size_of(type))) - 1); }

static int64_t integer_at(ck_scalar type, const void *x, size_t i) {
  switch (type) {
  case ck_uint8: return ((const uint8_t *)x)[i];
  case ck_int8: return ((const int8_t *)x)[i];
  case ck_uint16: return ((const uint16_t *)x)[i];
  case ck_int16: return ((const int16_t *)x)[i];
  default: return ((const int32_t *)x)[i];
  }
}

/* Returns all arguments except the tensors; `count` is the number of parameters. */
static ck_quantize_args random_quantization(size_t *count) {
  ck_quantize_args q = {
    .type = PICK(ck_uint8, ck_int8, ck_uint16, ck_int16, ck_int32), .outer = between(1, 3), .length = between(1, 6),
    .inner = PICK(1, 2, 4, 7, 16, 17, 33, 70), .block = 1};
  if (one_in(10)) q.inner = ck_map_chunk + 3;
  size_t kind = draw() % 4, used = 1;
  if (kind == 1) {
    /* By index of the axis, or by runs of indices. */
    q.block = between(1, q.length);
    q.stride = 1;
    used = parts(q.length, q.block);
  } else if (kind == 2) {
    q.stride = q.inner;
    q.inner_stride = 1;
    used = q.length * q.inner;
  } else if (kind == 3) {
    q.inner_stride = 1;
    used = q.inner;
  }
  if (kind && one_in(2)) {
    q.outer_stride = used;
    used *= q.outer;
  }
  describe(
    "type %d, %zu x %zu x %zu, blocks of %zu, strides %zu %zu %zu", (int)q.type, q.outer, q.length, q.inner, q.block,
    q.outer_stride, q.stride, q.inner_stride);
  *count = used;
  q.scale = reals(used, 0.01f, 1);
  uint8_t *zero = bytes(used * size_of(q.type));
  for (size_t i = 0; q.type == ck_int32 && i < used; i++) ((int32_t *)zero)[i] /= 1 << 12;
  q.zero = zero;
  return q;
}

static size_t elements(const ck_quantize_args *q) { return q->outer * q->length * q->inner; }

static size_t parameter_of(const ck_quantize_args *q, size_t i) {
  size_t line = i / q->inner;
  return line / q->length * q->outer_stride + line % q->length / q->block * q->stride + i % q->inner * q->inner_stride;
}

static size_t items_of(const ck_quantize_args *q) { return q->outer * q->length * parts(q->inner, ck_map_chunk); }

void check_quantize(const ck_kernels *k) {
  size_t count;
  ck_quantize_args q = random_quantization(&count);
  float reach = q.type == ck_int32 ? 1e9f : (float)highest(q.type) * 0.7f;
  float *x = reals(elements(&q), -reach, reach);
  for (size_t i = 0; i < 3; i++) x[draw() % elements(&q)] = (const float[]){NAN, INFINITY, -INFINITY}[i];
  q.x = x;
  q.y = memory(elements(&q) * size_of(q.type));
  run_all(k->integer->quantize, &q, items_of(&q), 0);
  for (size_t i = 0; i < elements(&q); i++) {
    size_t at = parameter_of(&q, i);
    double y = nearbyint((double)(x[i] / q.scale[at])) + (double)integer_at(q.type, q.zero, at);
    y = isnan(y) ? 0 : fmin(fmax(y, (double)lowest(q.type)), (double)highest(q.type));
    expect_integer(i, (int64_t)y, integer_at(q.type, q.y, i));
  }
}

void check_dequantize(const ck_kernels *k) {
  size_t count;
  ck_quantize_args q = random_quantization(&count);
  q.x = bytes(elements(&q) * size_of(q.type));
  float *y = unset(elements(&q));
  q.y = y;
  run_all(k->integer->dequantize, &q, items_of(&q), 0);
  for (size_t i = 0; i < elements(&q); i++) {
    size_t at = parameter_of(&q, i);
    double x = (double)(integer_at(q.type, q.x, i) - integer_at(q.type, q.zero, at)) * (double)q.scale[at];
    expect_real(i, x, 2e-7 * fabs(x), y[i]);
  }
}

void check_integer_binary(const ck_kernels *k) {
  ck_quantized_binary_args b = {.is_signed = one_in(2), .is_product = one_in(3), .rank = 2};
  size_t rows = between(1, 3), inner = PICK(1, 3, 4, 8, 15, 16, 17, 33, 64, 70, 150, ck_map_chunk + 70);
  bool moves[2] = {!one_in(4), !one_in(4)}, repeats[2] = {one_in(4), one_in(4)};
  b.sizes[0] = rows;
  b.sizes[1] = inner;
  b.x_strides[1] = moves[0];
  b.y_strides[1] = moves[1];
  b.x_strides[0] = repeats[0] ? 0 : moves[0] ? inner : 1;
  b.y_strides[0] = repeats[1] ? 0 : moves[1] ? inner : 1;
  describe("signed %d, product %d, %zu x %zu by %d and %d", b.is_signed, b.is_product, rows, inner, moves[0], moves[1]);
  const uint8_t *x = b.x = bytes((rows - 1) * b.x_strides[0] + (moves[0] ? inner : 1));
  const uint8_t *y = b.y = bytes((rows - 1) * b.y_strides[0] + (moves[1] ? inner : 1));
  uint8_t *z = b.z = memory(rows * inner);
  double scale[3], zero[3];
  for (size_t i = 0; i < 3; i++) {
    b.scales[i] = reals(1, 0.01f, 0.1f);
    b.zeros[i] = bytes(1);
    scale[i] = (double)*b.scales[i];
    zero[i] = b.is_signed ? (int8_t)*b.zeros[i] : *b.zeros[i];
  }
  run_all(k->integer->binary, &b, rows * parts(inner, ck_map_chunk), 0);
  for (size_t i = 0; i < rows * inner; i++) {
    size_t x_at = i / inner * b.x_strides[0] + i % inner * b.x_strides[1];
    size_t y_at = i / inner * b.y_strides[0] + i % inner * b.y_strides[1];
    double left = scale[0] * ((b.is_signed ? (int8_t)x[x_at] : x[x_at]) - zero[0]);
    double right = scale[1] * ((b.is_signed ? (int8_t)y[y_at] : y[y_at]) - zero[1]);
    double exact = (b.is_product ? left * right : left + right) / scale[2] + zero[2];
    exact = fmin(fmax(exact, b.is_signed ? -128 : 0), b.is_signed ? 127 : 255);
    /* Numbers halfway between two integers may round to either. */
    int32_t got = b.is_signed ? (int8_t)z[i] : z[i];
    expect_real(i, exact, 0.501, (float)got);
  }
}
