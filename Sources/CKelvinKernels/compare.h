/* Comparisons and selection, element by element with broadcasting. */
#pragma once
#include "broadcast.h"
#include "ck_elements.h"
#include "simd.h"

/* `x op y` for operands of which one or both advance, or its opposite if `flip` is 1. */
#define COMPARE_ORDER(name, type, op)                                                                                \
  static __attribute__((noinline)) void CK_NAME(name##_##type)(                                                      \
    const type *x, size_t x_step, const type *y, size_t y_step, uint8_t *z, size_t count, uint8_t flip) {            \
    if (x_step && y_step)                                                                                            \
      for (size_t i = 0; i < count; i++) z[i] = (x[i] op y[i]) ^ flip;                                               \
    else if (x_step)                                                                                                 \
      for (size_t i = 0; i < count; i++) z[i] = (x[i] op y[0]) ^ flip;                                               \
    else                                                                                                             \
      for (size_t i = 0; i < count; i++) z[i] = (x[0] op y[i]) ^ flip;                                               \
  }

/* Whether elements are equal, for x that advances, or whether they differ if `flip` is 1. */
#define COMPARE_EQUAL(type)                                                                                          \
  static __attribute__((noinline)) void CK_NAME(equal_##type)(                                                       \
    const type *x, const type *y, size_t y_step, uint8_t *z, size_t count, uint8_t flip) {                           \
    if (y_step)                                                                                                      \
      for (size_t i = 0; i < count; i++) z[i] = (x[i] == y[i]) ^ flip;                                               \
    else                                                                                                             \
      for (size_t i = 0; i < count; i++) z[i] = (x[i] == y[0]) ^ flip;                                               \
  }

#define COMPARE_FLOATS(type) COMPARE_EQUAL(type) COMPARE_ORDER(less, type, <) COMPARE_ORDER(less_or_equal, type, <=)
COMPARE_FLOATS(float)
COMPARE_FLOATS(double)
#define COMPARE_INTEGERS(bits)                                                                                       \
  COMPARE_EQUAL(uint##bits##_t) COMPARE_ORDER(less, int##bits##_t, <) COMPARE_ORDER(less, uint##bits##_t, <)
COMPARE_INTEGERS(8)
COMPARE_INTEGERS(16)
COMPARE_INTEGERS(32)
COMPARE_INTEGERS(64)

static void CK_NAME(ck_compare)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_compare_args *c = args;
  size_t last = c->rank - 1, x_step = c->x_strides[last], y_step = c->y_strides[last];
  broadcast loop = {c->rank, c->sizes, 2, {c->x_strides, c->y_strides}};
  bool tells_equal = c->function == ck_compare_equal || c->function == ck_compare_not_equal;
  bool is_less = c->function == ck_compare_less, repeats = !x_step && !y_step;
  /* Equality is symmetric, so the operand that advances can be first. */
  bool swaps = tells_equal && !x_step;
#define COMPARE_OPERANDS(type) \
  const type *x = (const type *)c->x + span.operands[0], *y = (const type *)c->y + span.operands[1];
/* Equal integers have equal bits, signed or not. */
#define COMPARE_EQUAL_CALL(type)                                                                                     \
  {                                                                                                                  \
    COMPARE_OPERANDS(type)                                                                                           \
    CK_NAME(equal_##type)(swaps ? y : x, swaps ? x : y, swaps ? x_step : y_step, z, count, flip);                    \
  }
#define COMPARE_FLOATS_CALL(type)                                                                                    \
  if (tells_equal) COMPARE_EQUAL_CALL(type)                                                                          \
  else {                                                                                                             \
    COMPARE_OPERANDS(type)                                                                                           \
    if (is_less) CK_NAME(less_##type)(x, x_step, y, y_step, z, count, 0);                                            \
    else CK_NAME(less_or_equal_##type)(x, x_step, y, y_step, z, count, 0);                                           \
  }                                                                                                                  \
  break;
/* For integers, x <= y is the opposite of y < x. */
#define COMPARE_INTEGERS_CALL(type, equal)                                                                           \
  if (tells_equal) COMPARE_EQUAL_CALL(equal)                                                                         \
  else {                                                                                                             \
    COMPARE_OPERANDS(type)                                                                                           \
    if (is_less) CK_NAME(less_##type)(x, x_step, y, y_step, z, count, 0);                                            \
    else CK_NAME(less_##type)(y, y_step, x, x_step, z, count, 1);                                                    \
  }                                                                                                                  \
  break;
  uint8_t flip = c->function == ck_compare_not_equal;
  for (broadcast_span span = broadcast_begin(&loop, begin, end); span.result < span.end; broadcast_next(&loop, &span)) {
    uint8_t *z = c->z + span.result;
    size_t count = repeats ? 1 : span.count;
    switch (c->type) {
    case ck_float32: COMPARE_FLOATS_CALL(float)
    case ck_float64: COMPARE_FLOATS_CALL(double)
    case ck_int8: COMPARE_INTEGERS_CALL(int8_t, uint8_t)
    case ck_int16: COMPARE_INTEGERS_CALL(int16_t, uint16_t)
    case ck_int32: COMPARE_INTEGERS_CALL(int32_t, uint32_t)
    case ck_int64: COMPARE_INTEGERS_CALL(int64_t, uint64_t)
    case ck_uint16: COMPARE_INTEGERS_CALL(uint16_t, uint16_t)
    case ck_uint32: COMPARE_INTEGERS_CALL(uint32_t, uint32_t)
    case ck_uint64: COMPARE_INTEGERS_CALL(uint64_t, uint64_t)
    default: COMPARE_INTEGERS_CALL(uint8_t, uint8_t)
    }
    if (repeats) memset(z, z[0], span.count);
  }
}

/* The condition advances; if it did not, the operand would already be selected. */
#define SELECT_SPAN(type)                                                                                        \
  static void CK_NAME(select_##type)(                                                                            \
    const uint8_t *condition, const type *x, size_t x_step, const type *y, size_t y_step, type *z, size_t count) { \
    if (x_step && y_step)                                                                                        \
      for (size_t i = 0; i < count; i++) z[i] = condition[i] ? x[i] : y[i];                                      \
    else if (x_step) {                                                                                           \
      type other = *y;                                                                                           \
      for (size_t i = 0; i < count; i++) z[i] = condition[i] ? x[i] : other;                                     \
    } else if (y_step) {                                                                                         \
      type chosen = *x;                                                                                          \
      for (size_t i = 0; i < count; i++) z[i] = condition[i] ? chosen : y[i];                                    \
    } else {                                                                                                     \
      type chosen = *x, other = *y;                                                                              \
      for (size_t i = 0; i < count; i++) z[i] = condition[i] ? chosen : other;                                   \
    }                                                                                                            \
  }                                                                                                              \
  static void CK_NAME(select_all_##type)(const type *x, size_t step, type *z, size_t count) {                    \
    if (step) memcpy(z, x, count * sizeof *z);                                                                   \
    else                                                                                                         \
      for (size_t i = 0; i < count; i++) z[i] = *x;                                                              \
  }
SELECT_SPAN(uint8_t)
SELECT_SPAN(uint16_t)
SELECT_SPAN(uint32_t)
SELECT_SPAN(uint64_t)

static void CK_NAME(ck_select)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_select_args *s = args;
  size_t last = s->rank - 1, x_step = s->x_strides[last], y_step = s->y_strides[last];
  broadcast loop = {s->rank, s->sizes, 3, {s->condition_strides, s->x_strides, s->y_strides}};
#define SELECT_CALL(type)                                                                                       \
  {                                                                                                             \
    const type *x = (const type *)s->x + span.operands[1], *y = (const type *)s->y + span.operands[2];          \
    type *z = (type *)s->z + span.result;                                                                       \
    if (s->condition_strides[last]) CK_NAME(select_##type)(condition, x, x_step, y, y_step, z, span.count);     \
    else CK_NAME(select_all_##type)(*condition ? x : y, *condition ? x_step : y_step, z, span.count);           \
  }                                                                                                             \
  break;
  for (broadcast_span span = broadcast_begin(&loop, begin, end); span.result < span.end; broadcast_next(&loop, &span)) {
    const uint8_t *condition = s->condition + span.operands[0];
    switch (s->element) {
    case 1: SELECT_CALL(uint8_t)
    case 2: SELECT_CALL(uint16_t)
    case 4: SELECT_CALL(uint32_t)
    default: SELECT_CALL(uint64_t)
    }
  }
}
