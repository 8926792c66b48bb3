/* Sums, normalizations and attention. */
#include "check.h"

/* [outer, length, inner] */
typedef struct {
  size_t outer, length, inner, count;
} lines;

static lines random_lines(void) {
  lines l = {between(1, 3), PICK(1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 65, 131), PICK(1, 1, 2, 3, 4, 8, 9, 16, 17, 31, ck_reduce_chunk + 3), 0};
  if (l.inner > ck_reduce_chunk && l.length > 17) l.length = 17;
  l.count = l.outer * l.length * l.inner;
  describe("%zu x %zu x %zu", l.outer, l.length, l.inner);
  return l;
}

static size_t line_items(const lines *l) { return l->outer * parts(l->inner, ck_reduce_chunk); }

/* Returns the reduction in float64; `magnitude` is the scale of its rounding error. */
static double reduce(size_t function, const float *x, size_t length, size_t step, double *magnitude) {
  double sum = 0, product = 1, most = -INFINITY, least = INFINITY, absolute = 0, squares = 0, powers = 0;
  for (size_t i = 0; i < length; i++) {
    double value = (double)x[i * step];
    sum += value;
    absolute += fabs(value);
    squares += value * value;
    product *= value;
    powers += exp(value);
    most = value > most ? value : most;
    least = value < least ? value : least;
  }
  *magnitude = absolute;
  switch (function) {
  case ck_reduce_sum: return sum;
  case ck_reduce_mean: *magnitude /= (double)length; return sum / (double)length;
  case ck_reduce_maximum: *magnitude = 0; return most;
  case ck_reduce_minimum: *magnitude = 0; return least;
  case ck_reduce_product: *magnitude = fabs(product); return product;
  case ck_reduce_l1: return absolute;
  case ck_reduce_l2: *magnitude = sqrt(squares); return sqrt(squares);
  case ck_reduce_sum_of_squares: *magnitude = squares; return squares;
  case ck_reduce_log_sum: *magnitude = 1; return log(sum);
  default: *magnitude = 1 + fabs(log(powers)); return log(powers);
  }
}

void check_reduce(const ck_kernels *k) {
  size_t function = draw() % (ck_reduce_log_sum_exp + 1);
  lines l = random_lines();
  describe("function %zu of %zu x %zu x %zu", function, l.outer, l.length, l.inner);
  bool is_positive = function == ck_reduce_log_sum || function == ck_reduce_product;
  float *x = reals(l.count, is_positive ? 0.9f : -2, is_positive ? 1.1f : 2);
  bool has_nan = one_in(6);
  size_t spoilt = draw() % l.count;
  if (has_nan) x[spoilt] = NAN;
  ck_reduce_args r = {
    .x = x, .y = unset(l.outer * l.inner), .function = function, .outer = l.outer, .length = l.length, .inner = l.inner};
  run_all(k->reduce, &r, line_items(&l), 0);
  for (size_t i = 0; i < l.outer * l.inner; i++) {
    size_t start = i / l.inner * l.length * l.inner + i % l.inner;
    bool is_spoilt = has_nan && spoilt / l.inner / l.length == i / l.inner && spoilt % l.inner == i % l.inner;
    double magnitude, expected = reduce(function, x + start, l.length, l.inner, &magnitude);
    expect_real(i, is_spoilt ? NAN : expected, 4e-6 * magnitude, r.y[i]);
  }
}

/* Few different values, and now and then NaN, so that the first and the last of the best differ. */
void check_arg_reduce(const ck_kernels *k) {
  (void)k;
  lines l = random_lines();
  if (one_in(2)) l.inner = 1, l.outer = between(1, 600), l.length = between(1, 40), l.count = l.outer * l.length;
  float *x = reals(l.count, 0, 1);
  for (size_t i = 0; i < l.count; i++) x[i] = one_in(30) ? NAN : (float)between(0, 4) - 2;
  ck_arg_reduce_args a = {
    .x = x, .y = memory(l.outer * l.inner * 4), .element = 4, .outer = l.outer, .length = l.length, .inner = l.inner,
    .minimum = one_in(2), .takes_last = one_in(2)};
  describe("%zu x %zu x %zu, %d %d", l.outer, l.length, l.inner, a.minimum, a.takes_last);
  run_all(ck_arg_reduce_run, &a, l.outer * parts(l.inner, ck_arg_reduce_chunk), 0);
  for (size_t i = 0; i < l.outer * l.inner; i++) {
    const float *line = x + i / l.inner * l.length * l.inner + i % l.inner;
    size_t best = 0;
    for (size_t place = 1; place < l.length; place++) {
      float value = line[place * l.inner], most = line[best * l.inner];
      bool is_better = isnan(most) ? false : isnan(value) || (a.minimum ? value < most : value > most);
      bool is_same = isnan(most) ? isnan(value) : value == most;
      if (is_better || (is_same && a.takes_last)) best = place;
    }
    expect_integer(i, (int64_t)best, ((const int32_t *)a.y)[i]);
  }
}

void check_softmax(const ck_kernels *k) {
  lines l = random_lines();
  float *x = reals(l.count, -10, 10);
  for (size_t i = 0; l.length > 1 && i < l.count; i++)
    if (i / l.inner % l.length != 0 && one_in(9)) x[i] = -INFINITY;
  ck_softmax_args s = {.x = x, .y = unset(l.count), .outer = l.outer, .length = l.length, .inner = l.inner};
  run_all(k->softmax, &s, line_items(&l), 0);
  for (size_t i = 0; i < l.outer * l.inner; i++) {
    const float *from = x + i / l.inner * l.length * l.inner + i % l.inner;
    double total = 0;
    for (size_t j = 0; j < l.length; j++) total += exp((double)from[j * l.inner]);
    for (size_t j = 0; j < l.length; j++) {
      size_t at = (size_t)(from - x) + j * l.inner;
      double expected = exp((double)x[at]) / total;
      expect_real(at, expected, 1e-5 * expected + 0x1p-120, s.y[at]);
    }
  }
}

void check_batch_normalization(const ck_kernels *k) {
  lines l = random_lines();
  bool is_blocked = one_in(2);
  size_t lanes = is_blocked ? k->lanes : 1, count = l.count * lanes, channels = l.length * lanes;
  ck_batch_normalization_args b = {
    .x = reals(count, -2, 2), .y = unset(count), .mean = reals(channels, -1, 1), .scale = reals(channels, -2, 2),
    .shift = reals(channels, -1, 1), .planes = l.outer * l.length, .channels = l.length, .inner = l.inner * lanes,
    .is_blocked = is_blocked};
  run_all(k->batch_normalization, &b, parts(count, ck_strip), 0);
  for (size_t i = 0; i < count; i++) {
    size_t c = i / b.inner % l.length * lanes + i % lanes;
    double expected = ((double)b.x[i] - (double)b.mean[c]) * (double)b.scale[c] + (double)b.shift[c];
    expect_real(i, expected, 2e-6, b.y[i]);
  }
}

void check_layer_normalization(const ck_kernels *k) {
  lines l = random_lines();
  size_t rows = l.count / l.length;
  ck_layer_normalization_args n = {
    .x = reals(l.count, 2, 6), .y = unset(l.count), .length = l.length, .epsilon = one_in(2) ? 1e-5f : 0.1f,
    .centered = !one_in(3)};
  if (one_in(2)) n.scale = reals(l.length, -2, 2);
  if (one_in(2)) n.shift = reals(l.length, -1, 1);
  run_all(k->layer_normalization, &n, rows, 0);
  for (size_t row = 0; row < rows; row++) {
    const float *x = n.x + row * l.length;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < l.length && n.centered; i++) mean += (double)x[i] / (double)l.length;
    for (size_t i = 0; i < l.length; i++) variance += pow((double)x[i] - mean, 2) / (double)l.length;
    double factor = 1 / sqrt(variance + (double)n.epsilon);
    for (size_t i = 0; i < l.length; i++) {
      double expected = ((double)x[i] - mean) * factor * (n.scale ? (double)n.scale[i] : 1);
      if (n.shift) expected += (double)n.shift[i];
      expect_real(row * l.length + i, expected, 1e-5 * (1 + factor), n.y[row * l.length + i]);
    }
  }
}

void check_rotary_embedding(const ck_kernels *k) {
  size_t outer = between(1, 4), rows = between(1, 5), half = between(1, 40), rest = between(0, 5);
  size_t length = 2 * half + rest, count = outer * rows * length;
  ck_rotary_embedding_args r = {
    .x = reals(count, -2, 2), .y = unset(count), .rank = 2, .sizes = {outer, rows}, .length = length, .width = 2 * half,
    .cosine_strides = {one_in(2) ? rows * half : 0, half}, .sine_strides = {0, half}, .interleaved = one_in(2)};
  r.cosines = reals(outer * rows * half, -1, 1);
  r.sines = reals(rows * half, -1, 1);
  run_all(k->rotary_embedding, &r, outer, 0);
  for (size_t i = 0; i < count; i++) {
    size_t row = i / length, place = i % length, pair = r.interleaved ? place / 2 : place % half;
    bool is_second = r.interleaved ? place % 2 : place >= half;
    double expected = (double)r.x[i];
    if (place < r.width) {
      size_t step = r.interleaved ? 1 : half;
      double other = (double)r.x[is_second ? i - step : i + step];
      double c = (double)r.cosines[row / rows * r.cosine_strides[0] + row % rows * half + pair];
      double s = (double)r.sines[row % rows * half + pair];
      expected = is_second ? other * s + expected * c : expected * c - other * s;
    }
    expect_real(i, expected, 1e-6, r.y[i]);
  }
}

void check_running(const ck_kernels *k) {
  lines l = random_lines();
  ck_cumulative_reduce_args c = {
    .x = reals(l.count, 0.5f, 1.5f), .y = unset(l.count), .type = ck_float32, .outer = l.outer, .length = l.length,
    .inner = l.inner, .product = one_in(2), .exclusive = one_in(2), .reversed = one_in(2)};
  size_t chunks = (l.inner + ck_cumulative_reduce_chunk - 1) / ck_cumulative_reduce_chunk;
  run_all(k->running, &c, l.outer * chunks, 0);
  for (size_t line = 0; line < l.outer * l.inner; line++) {
    double total = c.product;
    for (size_t step = 0; step < l.length; step++) {
      size_t place = c.reversed ? l.length - 1 - step : step;
      size_t i = (line / l.inner * l.length + place) * l.inner + line % l.inner;
      double x = (double)((const float *)c.x)[i], next = c.product ? total * x : total + x;
      double expected = c.exclusive ? total : next;
      expect_real(i, expected, 1e-6 * fabs(expected), ((const float *)c.y)[i]);
      total = next;
    }
  }
}

void check_response_normalization(const ck_kernels *k) {
  lines l = random_lines();
  ck_response_normalization_args r = {
    .x = reals(l.count, -2, 2), .y = unset(l.count), .channels = l.length, .inner = l.inner, .before = between(0, 3),
    .after = between(0, 3), .factor = real(0.01f, 0.5f), .beta = real(0.25f, 1), .k = real(0.5f, 2)};
  run_all(k->response_normalization, &r, line_items(&l), 0);
  for (size_t i = 0; i < l.count; i++) {
    size_t c = i / l.inner % l.length, first = c < r.before ? 0 : c - r.before;
    double squares = 0;
    for (size_t j = first; j <= c + r.after && j < l.length; j++)
      squares += pow((double)r.x[i + j * l.inner - c * l.inner], 2);
    double expected = (double)r.x[i] * pow((double)r.k + (double)r.factor * squares, -(double)r.beta);
    expect_real(i, expected, 1e-5 * fabs(expected), r.y[i]);
  }
}

/* Four axes, the last two maybe exchanged, in memory that ends with the last element. */
static const float *random_heads(size_t batch, size_t heads, size_t rows, size_t width, size_t *strides) {
  bool turns = one_in(3), is_between = one_in(2);
  size_t gap = between(0, 3), line = (turns ? rows : width) + gap, plane = (turns ? width : rows) * line;
  strides[2] = turns ? 1 : line;
  strides[3] = turns ? line : 1;
  strides[1] = plane;
  if (is_between && !turns) {
    /* Heads within rows. */
    strides[1] = width;
    strides[2] = heads * width + gap;
    plane = rows * strides[2];
    strides[0] = plane;
    return reals(batch * plane - gap, -1, 1);
  }
  strides[0] = heads * plane;
  return reals(batch * heads * plane - gap, -1, 1);
}

static double score(const ck_attention_args *a, size_t batch, size_t head, size_t query, size_t key) {
  double sum = 0;
  for (size_t i = 0; i < a->width; i++)
    sum += (double)a->query[batch * a->query_strides[0] + head * a->query_strides[1] + query * a->query_strides[2] +
             i * a->query_strides[3]] *
      (double)a->key[batch * a->key_strides[0] + head / a->sharing * a->key_strides[1] + key * a->key_strides[2] +
        i * a->key_strides[3]];
  sum *= (double)a->scale;
  if (a->mask)
    sum += (double)a->mask[batch * a->mask_strides[0] + head * a->mask_strides[1] + query * a->mask_strides[2] +
      key * a->mask_strides[3]];
  return sum;
}

static void expect_attended(const ck_attention_args *a, size_t batch, size_t head, size_t query) {
  double *shares = memory(a->keys * sizeof *shares), total = 0;
  int64_t last = INT64_MAX, first = 0;
  if (a->lengths) {
    last = a->last_key + (int64_t)query +
      (a->are_wide ? ((const int64_t *)a->lengths)[batch] : ((const int32_t *)a->lengths)[batch]);
    if (a->window) first = last - (int64_t)a->window + 1;
  }
  for (size_t key = 0; key < a->keys; key++) {
    bool is_seen = (int64_t)key >= first && (int64_t)key <= last;
    total += shares[key] = is_seen ? exp(score(a, batch, head, query, key)) : 0;
  }
  for (size_t i = 0; i < a->value_width; i++) {
    double sum = 0;
    for (size_t key = 0; total > 0 && key < a->keys; key++)
      sum += shares[key] / total *
        (double)a->value[batch * a->value_strides[0] + head / a->sharing * a->value_strides[1] + key * a->value_strides[2] +
          i * a->value_strides[3]];
    size_t at = batch * a->y_strides[0] + head * a->y_strides[1] + query * a->y_strides[2] + i;
    expect_real(at, sum, 2e-5, a->y[at]);
  }
}

void check_attention(const ck_kernels *k) {
  ck_attention_args a = {
    .batch = between(1, 2), .heads = between(1, 2), .sharing = between(1, 3), .queries = PICK(1, 3, 7, 8, 9, 17, 20),
    .keys = PICK(1, 2, 5, 12, 16, 17, 31, 50), .width = PICK(1, 3, 8, 16, 17, 40), .value_width = PICK(1, 3, 4, 8, 16, 17, 50),
    .scale = real(0.1f, 1), .row_chunk = ck_gemm_rows * between(1, 3)};
  describe(
    "batch %zu, heads %zu of %zu, queries %zu, keys %zu, width %zu, values' %zu", a.batch, a.heads, a.sharing, a.queries,
    a.keys, a.width, a.value_width);
  a.key = random_heads(a.batch, a.heads, a.keys, a.width, a.key_strides);
  a.value = random_heads(a.batch, a.heads, a.keys, a.value_width, a.value_strides);
  a.heads *= a.sharing;
  a.query = random_heads(a.batch, a.heads, a.queries, a.width, a.query_strides);
  int32_t narrow[2];
  int64_t wide[2];
  if (one_in(2)) {
    for (size_t i = 0; i < 2; i++) wide[i] = narrow[i] = one_in(8) ? INT32_MAX : (int32_t)between(0, 60) - 5;
    a.are_wide = one_in(2);
    a.lengths = a.are_wide ? (const void *)wide : narrow;
    a.last_key = (int64_t)between(0, 20) - 10;
    a.window = one_in(2) ? between(1, 12) : 0;
  }
  if (one_in(2)) {
    bool by_key = !one_in(3), by_query = one_in(2), by_head = one_in(2);
    size_t line = by_key ? a.keys : 1, plane = line * (by_query ? a.queries : 1);
    float *mask = reals(plane * (by_head ? a.heads : 1), -3, 3);
    for (size_t i = 0; by_key && i < plane; i++)
      if (i % line != 0 && !a.lengths && one_in(4)) mask[i] = -INFINITY;
    a.mask = mask;
    a.mask_strides[1] = by_head ? plane : 0;
    a.mask_strides[2] = by_query ? line : 0;
    a.mask_strides[3] = by_key;
  }
  a.y_strides[2] = a.heads * a.value_width;
  a.y_strides[1] = a.value_width;
  a.y_strides[0] = a.queries * a.y_strides[2];
  a.y = unset(a.batch * a.y_strides[0]);
  size_t items = a.batch * a.heads * parts(a.queries, a.row_chunk);
  run_all(k->attention, &a, items, k->attention_elements(&a) * sizeof(float));
  for (size_t i = 0; i < a.batch * a.heads; i++)
    for (size_t query = 0; query < a.queries; query++) expect_attended(&a, i / a.heads, i % a.heads, query);
}
