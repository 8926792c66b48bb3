/* Random windows, epilogues and 8-bit operands, and what they mean. */
#include "check.h"

float operand_of(ck_operands type, float x) {
  if (type == ck_operands_float32) return x;
  /* Eight digits are left, or eleven, and none of the others has more than a half to say. */
  int exponent, count = type == ck_operands_float16 ? 11 : 8;
  double digits = ldexp(frexp((double)x, &exponent), count);
  return (float)ldexp(nearbyint(digits), exponent - count);
}

/* A sum of 16 float16 numbers is off by up to 16 halves of the last digit of the largest partial sum. */
double loss_of(ck_operands type) { return type == ck_operands_float16 ? 800 : 1; }

ck_window random_window(bool is_pool) {
  ck_window w = {.kernel_height = PICK(1, 2, 3, 3, 5, 7), .stride_y = PICK(1, 1, 2, 3), .dilation_y = PICK(1, 1, 1, 2),
    .slices = {.size = 1, .kernel = 1, .stride = 1, .dilation = 1, .out = 1}};
  /* Pools join the taps of long windows. */
  if (is_pool && one_in(4)) w.kernel_height = PICK(9, 12, 16, 19);
  bool is_square = one_in(2);
  w.kernel_width = is_square ? w.kernel_height : PICK(1, 2, 3, 4, 5, 7);
  w.stride_x = is_square ? w.stride_y : PICK(1, 1, 2, 3, 4);
  w.dilation_x = is_square ? w.dilation_y : PICK(1, 1, 2, 3);
  size_t reach_y = (w.kernel_height - 1) * w.dilation_y, reach_x = (w.kernel_width - 1) * w.dilation_x;
  w.before_y = between(0, is_pool ? reach_y : reach_y + 1);
  w.before_x = between(0, is_pool ? reach_x : reach_x + 2);
  w.height = PICK(1, 2, 3, 5, 7, 8, 13, 21);
  w.width = PICK(1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 33, 40);
  size_t rows = w.before_y + w.height + between(0, reach_y), columns = w.before_x + w.width + between(0, reach_x);
  if (rows <= reach_y) w.height += reach_y + 1 - rows;
  if (columns <= reach_x) w.width += reach_x + 1 - columns;
  w.out_height = rows <= reach_y ? 1 : (rows - reach_y - 1) / w.stride_y + 1;
  w.out_width = columns <= reach_x ? 1 : (columns - reach_x - 1) / w.stride_x + 1;
  return w;
}

ck_window random_window_in_bands(bool is_pool) {
  ck_window w = random_window(is_pool);
  if (one_in(8)) {
    size_t rows = between(50, 90), columns = between(90, 140);
    w.height += rows * w.stride_y;
    w.width += columns * w.stride_x;
    w.out_height += rows;
    w.out_width += columns;
  }
  return w;
}

bool tap_inside(const ck_window *w, size_t row, size_t column, size_t ky, size_t kx, size_t *at) {
  size_t y = row * w->stride_y + ky * w->dilation_y, x = column * w->stride_x + kx * w->dilation_x;
  if (y < w->before_y || x < w->before_x || y - w->before_y >= w->height || x - w->before_x >= w->width) return false;
  *at = (y - w->before_y) * w->width + (x - w->before_x);
  return true;
}

static const float *random_counts(size_t out, size_t size, size_t kernel, size_t stride, size_t dilation, size_t before) {
  float *counts = reals(out, 1, 5);
  for (size_t i = 0; i < out; i++)
    if (i * stride >= before && i * stride + (kernel - 1) * dilation - before < size) counts[i] = (float)kernel;
  return counts;
}

const float *random_row_counts(const ck_window *w) {
  return random_counts(w->out_height, w->height, w->kernel_height, w->stride_y, w->dilation_y, w->before_y);
}

const float *random_column_counts(const ck_window *w) {
  return random_counts(w->out_width, w->width, w->kernel_width, w->stride_x, w->dilation_x, w->before_x);
}

void describe_window(const ck_window *w, const char *what, size_t a, size_t b, size_t c) {
  describe(
    "%s %zu, %zu, %zu; image %zu x %zu, kernel %zu x %zu, strides %zu %zu, dilations %zu %zu, before %zu %zu, out %zu x %zu",
    what, a, b, c, w->height, w->width, w->kernel_height, w->kernel_width, w->stride_y, w->stride_x, w->dilation_y,
    w->dilation_x, w->before_y, w->before_x, w->out_height, w->out_width);
}

ck_epilogue random_epilogue(const ck_kernels *k, size_t row_biases, size_t column_biases, size_t residuals) {
  ck_epilogue e = {.lower = -INFINITY, .upper = INFINITY};
  if (row_biases && one_in(2)) e.row_bias = reals(row_biases, -1, 1);
  if (column_biases && one_in(2)) e.column_bias = reals(column_biases, -1, 1);
  if (residuals && one_in(3)) e.residual = reals(residuals, -1, 1);
  if (one_in(3)) e.lower = 0;
  if (one_in(3)) e.upper = 1;
  if (one_in(4)) {
    e.map = k->maps[ck_unary_affine];
    e.map_a = real(-2, 2);
    e.map_b = real(-2, 2);
  }
  return e;
}

void expect_finished(
  const ck_epilogue *e, size_t row, size_t column, size_t at, double sum, double magnitude, float got) {
  double bias = (e->row_bias ? (double)e->row_bias[row] : 0) + (e->column_bias ? (double)e->column_bias[column] : 0);
  double residual = e->residual ? (double)e->residual[at] : 0;
  double y = fmin(fmax(sum + bias + residual, (double)e->lower), (double)e->upper);
  double slack = 1e-5 * (magnitude + fabs(bias) + fabs(residual));
  if (e->map) {
    y = (double)e->map_a * y + (double)e->map_b;
    slack = slack * fabs((double)e->map_a) + 1e-6 * (fabs(y) + fabs((double)e->map_b));
  }
  expect_real(at, y, slack, got);
}

ck_integer_operand random_operand(size_t count, size_t zeros) {
  ck_integer_operand o = {.data = bytes(count), .is_signed = one_in(2), .zero_step = zeros > 1 && one_in(2)};
  uint8_t *zero = bytes(o.zero_step ? zeros : 1);
  /* Half of the zero points are zero. */
  if (one_in(2)) memset(zero, o.is_signed ? 0 : 128, o.zero_step ? zeros : 1);
  o.zero = zero;
  return o;
}

int32_t operand_value(const ck_integer_operand *o, size_t at) {
  return o->is_signed ? (int8_t)o->data[at] : o->data[at];
}

int32_t operand_zero(const ck_integer_operand *o, size_t place) {
  uint8_t zero = o->zero[place * o->zero_step];
  return o->is_signed ? (int8_t)zero : zero;
}

ck_requantization random_requantization(size_t channels, size_t depth, bool narrows) {
  ck_requantization o = {.type = PICK(ck_uint8, ck_int8)};
  if (one_in(2)) {
    int32_t *bias = memory(channels * sizeof *bias);
    for (size_t i = 0; i < channels; i++) bias[i] = (int32_t)between(0, 20000) - 10000;
    o.bias = bias;
  }
  if (!narrows && one_in(3)) {
    o.type = ck_int32;
    return o;
  }
  o.scale_step = channels > 1 && one_in(2);
  float largest = one_in(4) ? 3e3f : 0.02f / sqrtf((float)depth + 1);
  o.scale = reals(o.scale_step ? channels : 1, 0, largest);
  o.zero = bytes(1);
  o.lower = o.type == ck_int8 ? -128 : 0;
  o.upper = o.lower + 255 - (one_in(3) ? 30 : 0);
  if (one_in(3)) o.lower += 9;
  return o;
}

void expect_requantized(
  const ck_requantization *o, size_t channel, size_t at, uint32_t sum, const void *results) {
  int32_t total = (int32_t)(sum + (o->bias ? (uint32_t)o->bias[channel] : 0));
  if (o->type == ck_int32) {
    expect_integer(at, total, ((const int32_t *)results)[at]);
    return;
  }
  bool is_signed = o->type == ck_int8;
  int32_t zero = is_signed ? (int8_t)*o->zero : *o->zero;
  float scaled = (float)total * o->scale[channel * o->scale_step];
  double y = nearbyint((double)scaled) + zero;
  y = fmin(fmax(y, o->lower), o->upper);
  expect_integer(at, (int64_t)y, is_signed ? ((const int8_t *)results)[at] : ((const uint8_t *)results)[at]);
}
