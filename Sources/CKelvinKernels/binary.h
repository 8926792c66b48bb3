/* Functions of two elements with broadcasting. */
#pragma once
#include "broadcast.h"
#include "simd.h"

CK_INLINE vf vpower(vf x, vf y) {
  for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = powf(x[lane], y[lane]);
  return x;
}

/* The quotient is float64, because one rounded to float32 may reach the next larger integer. */
CK_INLINE vf vfloor_divide(vf x, vf y) {
  for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = (float)floor((double)x[lane] / (double)y[lane]);
  return x;
}

typedef double vremainder_double __attribute__((ext_vector_type(CK_LANES)));

/* fmodf. Quotients below 2²⁸ are exact after truncation: a quotient that is no integer differs from the next one by more
 * than 2⁻²⁴, and float64 by less. Their products with y, of 52 bits, are exact too. */
CK_INLINE vf vremainder(vf x, vf y) {
  vremainder_double wide_x = __builtin_convertvector(x, vremainder_double);
  vremainder_double wide_y = __builtin_convertvector(y, vremainder_double);
  vremainder_double quotient = __builtin_elementwise_trunc(wide_x / wide_y);
  vf rest = __builtin_convertvector(wide_x - quotient * wide_y, vf);
  /* Of infinite x, infinite y and y = 0 the rest is not a number. */
  bool is_exact = true;
  for (size_t lane = 0; lane < CK_LANES; lane++)
    is_exact &= fabs(quotient[lane]) < 0x1p28 && rest[lane] == rest[lane];
  if (!is_exact)
    for (size_t lane = 0; lane < CK_LANES; lane++) rest[lane] = fmodf(x[lane], y[lane]);
  /* A rest of 0 has the sign of x. */
  return __builtin_elementwise_copysign(rest, x);
}

CK_INLINE vf vmodulo(vf x, vf y) {
  vf rest = vremainder(x, y);
  for (size_t lane = 0; lane < CK_LANES; lane++)
    rest[lane] = rest[lane] != 0 && (rest[lane] < 0) != (y[lane] < 0) ? rest[lane] + y[lane] : rest[lane];
  return rest;
}

CK_INLINE vf binary_apply(const size_t function, vf x, vf y) {
  switch (function) {
#define BINARY_CASE(name, expression) \
  case ck_binary_##name: return expression;
    CK_BINARY_FUNCTIONS(BINARY_CASE)
  default: return x;
  }
}

/* The vector of an operand that does not advance: its only element in every lane, or its only vector. */
CK_INLINE vf binary_repeated(const float *x, size_t step) { return step == ck_repeats ? vload(x) : vset(step ? 0 : *x); }

CK_INLINE void binary_span(
  const size_t function, const float *x, const bool moves_x, const float *y, const bool moves_y, float *z,
  size_t count, vf one_x, vf one_y) {
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES)
    vstore(z + i, binary_apply(function, moves_x ? vload(x + i) : one_x, moves_y ? vload(y + i) : one_y));
  if (i == count) return;
  size_t n = count - i;
  vf part_x = moves_x ? vload_part(x + i, n) : one_x, part_y = moves_y ? vload_part(y + i, n) : one_y;
  vstore_part(z + i, binary_apply(function, part_x, part_y), n);
}

typedef void (*binary_function)(const float *x, size_t x_step, const float *y, size_t y_step, float *z, size_t count);

#define CK_BINARY(function, expression)                                                              \
  static void CK_NAME(ck_f32_##function)(                                                            \
    const float *x, size_t x_step, const float *y, size_t y_step, float *z, size_t count) {          \
    vf one_x = binary_repeated(x, x_step), one_y = binary_repeated(y, y_step);                       \
    if (x_step == 1 && y_step == 1)                                                                  \
      binary_span(ck_binary_##function, x, true, y, true, z, count, one_x, one_y);                   \
    else if (x_step == 1) binary_span(ck_binary_##function, x, true, y, false, z, count, one_x, one_y); \
    else if (y_step == 1) binary_span(ck_binary_##function, x, false, y, true, z, count, one_x, one_y); \
    else binary_span(ck_binary_##function, x, false, y, false, z, count, one_x, one_y);              \
  }
CK_BINARY_FUNCTIONS(CK_BINARY)

static void CK_NAME(ck_f32_binary)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  static const binary_function functions[ck_binary_functions] = {
#define BINARY_ENTRY(function, expression) [ck_binary_##function] = CK_NAME(ck_f32_##function),
    CK_BINARY_FUNCTIONS(BINARY_ENTRY)};
  const ck_binary_args *b = args;
  size_t last = b->rank - 1, x_step = b->x_strides[last], y_step = b->y_strides[last];
  broadcast loop = {b->rank, b->sizes, 2, {b->x_strides, b->y_strides}};
  binary_function run = functions[b->function];
  for (broadcast_span span = broadcast_begin(&loop, begin, end); span.result < span.end; broadcast_next(&loop, &span))
    run(b->x + span.operands[0], x_step, b->y + span.operands[1], y_step, b->z + span.result, span.count);
}
