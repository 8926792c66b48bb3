/* Comparisons and choices, element by element with broadcasting. */
#pragma once
#include "broadcast.h"
#include "ck_elements.h"
#include "simd.h"

#define COMPARE_LOOP(x_step, y_step, op) \
  for (size_t i = 0; i < count; i++) z[i] = x[i * x_step] op y[i * y_step];

#define COMPARE_STEPS(op)                          \
  if (x_step && y_step) COMPARE_LOOP(1, 1, op)     \
  else if (x_step) COMPARE_LOOP(1, 0, op)          \
  else if (y_step) COMPARE_LOOP(0, 1, op)          \
  else COMPARE_LOOP(0, 0, op)                      \
  break;

#define COMPARE_SPAN(type)                                                                                     \
  static void CK_NAME(compare_##type)(                                                                         \
    ck_compare function, const type *x, size_t x_step, const type *y, size_t y_step, uint8_t *z,            \
    size_t count) {                                                                                            \
    switch (function) {                                                                                        \
    case ck_compare_equal: COMPARE_STEPS(==)                                                                           \
    case ck_compare_not_equal: COMPARE_STEPS(!=)                                                                       \
    case ck_compare_less: COMPARE_STEPS(<)                                                                             \
    case ck_compare_less_or_equal: COMPARE_STEPS(<=)                                                                   \
    default: break;                                                                                            \
    }                                                                                                          \
  }
COMPARE_SPAN(float)
COMPARE_SPAN(double)
COMPARE_SPAN(int8_t)
COMPARE_SPAN(int16_t)
COMPARE_SPAN(int32_t)
COMPARE_SPAN(int64_t)
COMPARE_SPAN(uint8_t)
COMPARE_SPAN(uint16_t)
COMPARE_SPAN(uint32_t)
COMPARE_SPAN(uint64_t)

static void CK_NAME(ck_compare)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_compare_args *c = args;
  size_t last = c->rank - 1;
  const size_t *strides[] = {c->x_strides, c->y_strides};
#define COMPARE_CALL(type)                                                                        \
  CK_NAME(compare_##type)(                                                                        \
    c->function, (const type *)c->x + span.operands[0], c->x_strides[last],                       \
    (const type *)c->y + span.operands[1], c->y_strides[last], c->z + span.result, span.count);   \
  break;
  for (size_t item = begin; item < end; item++) {
    broadcast_span span = broadcast_item(item, c->rank, c->sizes, strides, 2);
    switch (c->type) {
    case ck_float32: COMPARE_CALL(float)
    case ck_float64: COMPARE_CALL(double)
    case ck_int8: COMPARE_CALL(int8_t)
    case ck_int16: COMPARE_CALL(int16_t)
    case ck_int32: COMPARE_CALL(int32_t)
    case ck_int64: COMPARE_CALL(int64_t)
    case ck_uint16: COMPARE_CALL(uint16_t)
    case ck_uint32: COMPARE_CALL(uint32_t)
    case ck_uint64: COMPARE_CALL(uint64_t)
    default: COMPARE_CALL(uint8_t)
    }
  }
}

/* The condition walks; one that does not has chosen already. */
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
  const size_t *strides[] = {s->condition_strides, s->x_strides, s->y_strides};
#define SELECT_CALL(type)                                                                                       \
  {                                                                                                             \
    const type *x = (const type *)s->x + span.operands[1], *y = (const type *)s->y + span.operands[2];          \
    type *z = (type *)s->z + span.result;                                                                       \
    if (s->condition_strides[last]) CK_NAME(select_##type)(condition, x, x_step, y, y_step, z, span.count);     \
    else CK_NAME(select_all_##type)(*condition ? x : y, *condition ? x_step : y_step, z, span.count);           \
  }                                                                                                             \
  break;
  for (size_t item = begin; item < end; item++) {
    broadcast_span span = broadcast_item(item, s->rank, s->sizes, strides, 3);
    const uint8_t *condition = s->condition + span.operands[0];
    switch (s->element) {
    case 1: SELECT_CALL(uint8_t)
    case 2: SELECT_CALL(uint16_t)
    case 4: SELECT_CALL(uint32_t)
    default: SELECT_CALL(uint64_t)
    }
  }
}
