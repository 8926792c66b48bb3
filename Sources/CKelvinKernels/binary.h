/* Functions of two elements with broadcasting. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

enum {
  binary_add, binary_subtract, binary_multiply, binary_divide, binary_minimum, binary_maximum, binary_power,
  binary_floor_divide, binary_modulo, binary_remainder,
};

/* The sign of the divisor. */
CK_INLINE float binary_modulo_of(float x, float y) {
  float rest = fmodf(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

CK_INLINE vf binary_apply(const size_t function, vf x, vf y) {
  switch (function) {
  case binary_add: return x + y;
  case binary_subtract: return x - y;
  case binary_multiply: return x * y;
  case binary_divide: return x / y;
  case binary_minimum: return vselect(y != y, y, vatmost(x, y));
  case binary_maximum: return vselect(y != y, y, vatleast(x, y));
  case binary_floor_divide:
    /* A quotient rounded to float32 may reach the integer above it. */
    for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = (float)floor((double)x[lane] / (double)y[lane]);
    return x;
  case binary_modulo:
    for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = binary_modulo_of(x[lane], y[lane]);
    return x;
  case binary_remainder:
    for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = fmodf(x[lane], y[lane]);
    return x;
  default:
    for (size_t lane = 0; lane < CK_LANES; lane++) x[lane] = powf(x[lane], y[lane]);
    return x;
  }
}

/* Steps are 0 or 1. */
CK_INLINE void binary_span(
  const size_t function, const float *x, const size_t x_step, const float *y, const size_t y_step, float *z,
  size_t count) {
  vf one_x = vset(x_step ? 0 : *x), one_y = vset(y_step ? 0 : *y);
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES)
    vstore(z + i, binary_apply(function, x_step ? vload(x + i) : one_x, y_step ? vload(y + i) : one_y));
  if (i == count) return;
  size_t n = count - i;
  vf part_x = x_step ? vload_part(x + i, n) : one_x, part_y = y_step ? vload_part(y + i, n) : one_y;
  vstore_part(z + i, binary_apply(function, part_x, part_y), n);
}

typedef void (*binary_function)(const float *x, size_t x_step, const float *y, size_t y_step, float *z, size_t count);

#define CK_BINARY(function)                                                                          \
  static void CK_NAME(ck_f32_##function)(                                                            \
    const float *x, size_t x_step, const float *y, size_t y_step, float *z, size_t count) {          \
    if (x_step && y_step) binary_span(binary_##function, x, 1, y, 1, z, count);                      \
    else if (x_step) binary_span(binary_##function, x, 1, y, 0, z, count);                           \
    else if (y_step) binary_span(binary_##function, x, 0, y, 1, z, count);                           \
    else binary_span(binary_##function, x, 0, y, 0, z, count);                                       \
  }

CK_BINARY(add)
CK_BINARY(subtract)
CK_BINARY(multiply)
CK_BINARY(divide)
CK_BINARY(minimum)
CK_BINARY(maximum)
CK_BINARY(power)
CK_BINARY(floor_divide)
CK_BINARY(modulo)
CK_BINARY(remainder)

static void CK_NAME(ck_f32_binary)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  static const binary_function functions[ck_binary_functions] = {
    CK_NAME(ck_f32_add), CK_NAME(ck_f32_subtract), CK_NAME(ck_f32_multiply), CK_NAME(ck_f32_divide),
    CK_NAME(ck_f32_minimum), CK_NAME(ck_f32_maximum), CK_NAME(ck_f32_power), CK_NAME(ck_f32_floor_divide),
    CK_NAME(ck_f32_modulo), CK_NAME(ck_f32_remainder)};
  const ck_binary_args *b = args;
  size_t last = b->rank - 1, inner = b->sizes[last], chunks = (inner + ck_map_chunk - 1) / ck_map_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_map_chunk, rest = item / chunks;
    size_t x = first * b->x_strides[last], y = first * b->y_strides[last], z = rest * inner + first;
    for (size_t axis = last; axis-- > 0;) {
      size_t index = rest % b->sizes[axis];
      rest /= b->sizes[axis];
      x += index * b->x_strides[axis];
      y += index * b->y_strides[axis];
    }
    size_t count = inner - first < ck_map_chunk ? inner - first : ck_map_chunk;
    functions[b->function](b->x + x, b->x_strides[last], b->y + y, b->y_strides[last], b->z + z, count);
  }
}
