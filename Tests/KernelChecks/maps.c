/* Functions of single elements, comparisons, choices and conversions. */
#include "check.h"

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double atleast(double x, double lower) { return lower > x ? lower : x; }
static double atmost(double x, double upper) { return upper < x ? upper : x; }

static double unary(size_t function, double x, double a, double b) {
  switch (function) {
  case ck_unary_relu: return atleast(x, 0);
  case ck_unary_clip: return atmost(atleast(x, a), b);
  case ck_unary_leaky_relu: return x >= 0 ? x : a * x;
  case ck_unary_elu: return x > 0 ? x : a * expm1(x);
  case ck_unary_selu: return b * (x > 0 ? x : a * expm1(x));
  case ck_unary_sigmoid: return sigmoid(x);
  case ck_unary_hard_sigmoid: return atmost(atleast(a * x + b, 0), 1);
  case ck_unary_hard_swish: return x * (atmost(atleast(x + 3, 0), 6) / 6);
  case ck_unary_silu: return x * sigmoid(x);
  case ck_unary_tanh: return tanh(x);
  case ck_unary_softplus: return atleast(x, 0) + log1p(exp(-fabs(x)));
  case ck_unary_softsign: return x / (1 + fabs(x));
  case ck_unary_gelu: return 0.5 * x * erfc(-x * sqrt(0.5));
  case ck_unary_gelu_tanh: return x * sigmoid(2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  case ck_unary_exp: return exp(x);
  case ck_unary_log: return log(x);
  case ck_unary_sqrt: return sqrt(x);
  case ck_unary_abs: return fabs(x);
  case ck_unary_negate: return -x;
  case ck_unary_reciprocal: return 1 / x;
  case ck_unary_floor: return floor(x);
  case ck_unary_ceil: return ceil(x);
  case ck_unary_round: return nearbyint(x);
  case ck_unary_sign: return x > 0 ? 1 : x < 0 ? -1 : x;
  case ck_unary_erf: return erf(x);
  case ck_unary_sin: return sin(x);
  case ck_unary_cos: return cos(x);
  case ck_unary_square: return x * x;
  case ck_unary_rsqrt: return 1 / sqrt(x + a);
  case ck_unary_affine: return a * x + b;
  case ck_unary_tan: return tan(x);
  case ck_unary_asin: return asin(x);
  case ck_unary_acos: return acos(x);
  case ck_unary_atan: return atan(x);
  case ck_unary_sinh: return sinh(x);
  case ck_unary_cosh: return cosh(x);
  case ck_unary_asinh: return asinh(x);
  case ck_unary_acosh: return acosh(x);
  case ck_unary_atanh: return atanh(x);
  case ck_unary_exp2: return exp2(x);
  case ck_unary_scaled_tanh: return a * tanh(b * x);
  default: return x < a ? 0 : x;
  }
}

void check_unary(const ck_kernels *k) {
  static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1, -1, 0x1p-126f, 88, -88, 1000, -1000};
  ck_unary_args u = {.count = PICK(1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 70, 3 * ck_strip + 5)};
  size_t function = draw() % (ck_unary_functions - 1);
  if (function >= ck_unary_logical_not) function++;
  float reach = (float)PICK(1, 4, 20, 80);
  describe("function %zu of %zu elements to %g", function, u.count, (double)reach);
  bool is_positive = function == ck_unary_rsqrt || function == ck_unary_log;
  float *x = reals(u.count, is_positive ? 0 : -reach, reach), *y = x;
  u.map = k->maps[function];
  u.a = is_positive ? 0.5f : real(0, 2);
  u.b = function == ck_unary_clip ? u.a + 1 : real(0, 2);
  if (function != ck_unary_hard_swish)
    for (size_t i = 0; i < 4 && i < u.count; i++)
      x[draw() % u.count] = special[draw() % (sizeof special / sizeof *special)];
  float *given = unset(u.count);
  memcpy(given, x, u.count * sizeof *x);
  if (one_in(2)) y = unset(u.count);
  u.x = x;
  u.y = y;
  run_all(k->unary, &u, parts(u.count, ck_strip), 0);
  for (size_t i = 0; i < u.count; i++) {
    double expected = unary(function, (double)given[i], (double)u.a, (double)u.b);
    /* The product of zero and infinity is not checked. */
    if (isnan(expected) && isinf(given[i])) continue;
    if (isinf(given[i]) && (function == ck_unary_gelu || function == ck_unary_gelu_tanh || function == ck_unary_silu))
      continue;
    /* The tolerance is a few units in the last place, also of the added constant. */
    expect_real(i, expected, 5e-7 * fabs(expected) + 0x1p-23 * fabs((double)u.b) + 0x1p-126, y[i]);
  }
}

static double binary(size_t function, float x, float y) {
  double a = (double)x, b = (double)y, rest = fmod(a, b);
  switch (function) {
  case ck_binary_add: return a + b;
  case ck_binary_subtract: return a - b;
  case ck_binary_multiply: return a * b;
  case ck_binary_divide: return a / b;
  case ck_binary_minimum: return b < a ? b : a;
  case ck_binary_maximum: return b > a ? b : a;
  case ck_binary_power: return pow(a, b);
  case ck_binary_floor_divide: return floor(a / b);
  case ck_binary_modulo: return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  default: return rest;
  }
}

/* Sizes and the strides of operands that broadcast. */
typedef struct {
  size_t rank, sizes[ck_max_rank], count, items;
} extents;

static extents random_extents(void) {
  extents e = {.rank = between(1, 4), .count = 1};
  for (size_t axis = 0; axis < e.rank; axis++) e.sizes[axis] = between(1, 5);
  e.sizes[e.rank - 1] = PICK(1, 2, 4, 5, 8, 15, 16, 17, 33, 70, 2 * ck_strip + 9);
  for (size_t axis = 0; axis < e.rank; axis++) e.count *= e.sizes[axis];
  e.items = parts(e.count, ck_strip);
  return e;
}

/* Strides of an operand some axes of which are one; returns its elements. */
static size_t random_strides(const extents *e, size_t *strides) {
  size_t count = 1;
  for (size_t axis = e->rank; axis-- > 0;) {
    bool moves = !one_in(3);
    strides[axis] = moves ? count : 0;
    if (moves) count *= e->sizes[axis];
  }
  return count;
}

static size_t place_of(const extents *e, const size_t *strides, size_t i) {
  size_t place = 0;
  for (size_t axis = e->rank; axis-- > 0; i /= e->sizes[axis]) place += i % e->sizes[axis] * strides[axis];
  return place;
}

/* Broadcast, or one vector again and again. */
static const float *random_factor(const ck_kernels *k, const extents *e, size_t *strides, float least) {
  size_t count = random_strides(e, strides);
  if (e->sizes[e->rank - 1] % k->lanes || one_in(2)) return reals(count, least, 4);
  for (size_t axis = 0; axis < e->rank; axis++) strides[axis] = 0;
  strides[e->rank - 1] = ck_repeats;
  return reals(k->lanes, least, 4);
}

static float factor_of(const ck_kernels *k, const extents *e, const size_t *strides, const float *x, size_t i) {
  size_t inner = e->sizes[e->rank - 1];
  return strides[e->rank - 1] == ck_repeats ? x[i % inner % k->lanes] : x[place_of(e, strides, i)];
}

void check_binary(const ck_kernels *k) {
#define FUNCTION(name, expression) ck_binary_##name,
  static const size_t functions[] = {CK_BINARY_FUNCTIONS(FUNCTION)};
  extents e = random_extents();
  ck_binary_args b = {.function = functions[draw() % (sizeof functions / sizeof *functions)], .rank = e.rank};
  float least = b.function == ck_binary_power ? 0.1f : -4;
  memcpy(b.sizes, e.sizes, sizeof b.sizes);
  b.x = random_factor(k, &e, b.x_strides, least);
  b.y = random_factor(k, &e, b.y_strides, least);
  b.z = unset(e.count);
  describe(
    "function %zu, rank %zu, last axis %zu by %zu and %zu", b.function, e.rank, e.sizes[e.rank - 1],
    b.x_strides[e.rank - 1], b.y_strides[e.rank - 1]);
  run_all(k->binary, &b, e.items, 0);
  for (size_t i = 0; i < e.count; i++) {
    float x = factor_of(k, &e, b.x_strides, b.x, i), y = factor_of(k, &e, b.y_strides, b.y, i);
    double expected = binary(b.function, x, y);
    expect_real(i, expected, 1e-6 * (fabs(expected) + (b.function == ck_binary_modulo ? 4 : 0)), b.z[i]);
  }
}

/* An element of few values, so that many are equal, as its type's and as a number. */
static double small_element(ck_scalar type, void *x, size_t i) {
  int value = (int)between(0, 4) - 1;
  bool is_unsigned = type == ck_uint8 || type == ck_uint16 || type == ck_uint32 || type == ck_uint64 || type == ck_bool;
  if (is_unsigned && value < 0) value = type == ck_bool ? 1 : 5;
  switch (type) {
  case ck_float32: ((float *)x)[i] = (float)value; break;
  case ck_float64: ((double *)x)[i] = value; break;
  case ck_int16: case ck_uint16: ((int16_t *)x)[i] = (int16_t)value; break;
  case ck_int32: case ck_uint32: ((int32_t *)x)[i] = value; break;
  case ck_int64: case ck_uint64: ((int64_t *)x)[i] = value; break;
  default: ((int8_t *)x)[i] = (int8_t)value; break;
  }
  return value;
}

void check_compare(const ck_kernels *k) {
  extents e = random_extents();
  ck_compare_args c = {
    .type = PICK(ck_float32, ck_float64, ck_int8, ck_int16, ck_int32, ck_int64, ck_uint8, ck_uint16, ck_uint32, ck_uint64, ck_bool),
    .function = draw() % (ck_compare_less_or_equal + 1), .rank = e.rank};
  memcpy(c.sizes, e.sizes, sizeof c.sizes);
  describe("type %d, function %d, rank %zu, last axis %zu", (int)c.type, (int)c.function, e.rank, e.sizes[e.rank - 1]);
  size_t counts[2] = {random_strides(&e, c.x_strides), random_strides(&e, c.y_strides)};
  size_t size = c.type == ck_float64 || c.type == ck_int64 || c.type == ck_uint64 ? 8
    : c.type == ck_float32 || c.type == ck_int32 || c.type == ck_uint32         ? 4
    : c.type == ck_int16 || c.type == ck_uint16                                 ? 2
                                                                                : 1;
  void *operands[2];
  double *values[2];
  for (size_t o = 0; o < 2; o++) {
    operands[o] = memory(counts[o] * size);
    values[o] = memory(counts[o] * sizeof(double));
    for (size_t i = 0; i < counts[o]; i++) values[o][i] = small_element(c.type, operands[o], i);
  }
  c.x = operands[0];
  c.y = operands[1];
  c.z = memory(e.count);
  run_all(k->compare, &c, e.items, 0);
  for (size_t i = 0; i < e.count; i++) {
    double x = values[0][place_of(&e, c.x_strides, i)], y = values[1][place_of(&e, c.y_strides, i)];
    bool expected = c.function == ck_compare_equal ? x == y
      : c.function == ck_compare_not_equal       ? x != y
      : c.function == ck_compare_less            ? x < y
                                                 : x <= y;
    expect_integer(i, expected, c.z[i]);
  }
}

void check_select(const ck_kernels *k) {
  extents e = random_extents();
  ck_select_args s = {.element = PICK(1, 2, 4, 8), .rank = e.rank};
  memcpy(s.sizes, e.sizes, sizeof s.sizes);
  describe("%zu bytes, rank %zu, last axis %zu", s.element, e.rank, e.sizes[e.rank - 1]);
  size_t conditions = random_strides(&e, s.condition_strides);
  uint8_t *condition = memory(conditions);
  for (size_t i = 0; i < conditions; i++) condition[i] = one_in(2);
  const uint8_t *x = bytes(random_strides(&e, s.x_strides) * s.element);
  const uint8_t *y = bytes(random_strides(&e, s.y_strides) * s.element);
  uint8_t *z = memory(e.count * s.element);
  s.condition = condition;
  s.x = x;
  s.y = y;
  s.z = z;
  run_all(k->select, &s, e.items, 0);
  for (size_t i = 0; i < e.count * s.element; i++) {
    size_t at = i / s.element, byte = i % s.element;
    bool chosen = condition[place_of(&e, s.condition_strides, at)];
    size_t place = place_of(&e, chosen ? s.x_strides : s.y_strides, at) * s.element + byte;
    expect_integer(i, chosen ? x[place] : y[place], z[i]);
  }
}

/* Integer operations one after another, with values between them in memory or in a strip of the scratch memory. */
void check_chain(const ck_kernels *k) {
  (void)k;
  enum { most = 4 };
  static const struct { ck_scalar type; size_t size; } types[] = {
    {ck_int8, 1}, {ck_int16, 2}, {ck_int32, 4}, {ck_int64, 8}};
  static const size_t functions[] = {ck_binary_add, ck_binary_subtract, ck_binary_multiply};
  extents e = random_extents();
  size_t type = draw() % 4, size = types[type].size, count = between(1, most), dense = 1;
  describe("%zu of %zu bytes, rank %zu, last axis %zu", count, size, e.rank, e.sizes[e.rank - 1]);
  ck_integer_binary_args steps[most];
  ck_chain_link links[most] = {0};
  const uint8_t *first = bytes(e.count * size), *last = first;
  bool is_inner = false;
  for (size_t i = 0; i < count; i++, dense = 1) {
    steps[i] = (ck_integer_binary_args){
      .x = last, .type = types[type].type, .function = functions[draw() % 3], .rank = e.rank};
    memcpy(steps[i].sizes, e.sizes, sizeof e.sizes);
    steps[i].y = bytes(random_strides(&e, steps[i].y_strides) * size);
    for (size_t axis = e.rank; axis-- > 0; dense *= e.sizes[axis]) steps[i].x_strides[axis] = dense;
    links[i] = (ck_chain_link){.run = ck_integer_binary_run, .args = steps + i, .size = sizeof *steps};
    if (is_inner) links[i].elements[0] = size, links[i].places[0] = i % 2 * 8 * ck_strip;
    is_inner = i + 1 < count && one_in(2);
    steps[i].z = is_inner ? memory(0) : memory(e.count * size);
    if (is_inner) links[i].elements[2] = size, links[i].places[2] = (i + 1) % 2 * 8 * ck_strip;
    last = steps[i].z;
  }
  ck_chain_args chain = {links, count};
  run_all(ck_chain_run, &chain, e.items, 2 * 8 * ck_strip);
  for (size_t i = 0; i < e.count; i++) {
    uint64_t sum = 0;
    memcpy(&sum, first + i * size, size);
    for (size_t step = 0; step < count; step++) {
      uint64_t y = 0;
      memcpy(&y, (const uint8_t *)steps[step].y + place_of(&e, steps[step].y_strides, i) * size, size);
      sum = steps[step].function == ck_binary_add ? sum + y
        : steps[step].function == ck_binary_subtract ? sum - y : sum * y;
    }
    expect_integer(i, 0, memcmp(&sum, last + i * size, size));
  }
}

/* A float16 number that is not negative; what follows the largest counts as the next of its row. */
static double half_number(uint32_t bits) {
  uint32_t exponent = bits >> 10, fraction = bits & 0x3FF;
  return exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
}

static uint32_t nearest_half(double x) {
  uint32_t low = 0, high = 0x7C00;
  if (x >= half_number(high)) return high;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    *(half_number(middle) <= x ? &low : &high) = middle;
  }
  double below = x - half_number(low), above = half_number(high) - x;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

void check_half(const ck_kernels *k) {
  ck_convert_args c = {.count = one_in(2) ? 65536 : between(1, 3 * ck_map_chunk)};
  describe("%zu elements", c.count);
  uint16_t *halves = memory(c.count * sizeof *halves), *back = memory(c.count * sizeof *back);
  float *wide = unset(c.count), *x = unset(c.count);
  for (size_t i = 0; i < c.count; i++) halves[i] = (uint16_t)(c.count == 65536 ? i : draw());
  c.x = halves;
  c.y = wide;
  run_all(k->float_from_half, &c, parts(c.count, ck_map_chunk), 0);
  for (size_t i = 0; i < c.count; i++) {
    uint32_t bits = halves[i] & 0x7FFF;
    double value = bits > 0x7C00 ? NAN : bits == 0x7C00 ? INFINITY : half_number(bits);
    expect_real(i, halves[i] & 0x8000 ? -value : value, 0, wide[i]);
    /* A number, or one halfway to its neighbour. */
    x[i] = one_in(3) ? wide[i] : wide[i] * (1 + (one_in(2) ? 0x1p-11f : 0x1p-12f * (float)between(0, 7)));
  }
  c.x = x;
  c.y = back;
  run_all(k->half_from_float, &c, parts(c.count, ck_map_chunk), 0);
  for (size_t i = 0; i < c.count; i++) {
    if (isnan(x[i])) expect_integer(i, true, (back[i] & 0x7FFF) > 0x7C00);
    else expect_integer(i, nearest_half(fabs((double)x[i])) | (signbit(x[i]) ? 0x8000 : 0), back[i]);
  }
}
