#include "ck_elements.h"
#include "typed.h"

#include <math.h>

#define INTEGER_LIMITS(type, lowest, highest) \
  case type: *lower = lowest; *upper = highest; return;

static void integer_limits(ck_scalar type, int64_t *lower, int64_t *upper) {
  switch (type) {
    INTEGER_LIMITS(ck_int8, INT8_MIN, INT8_MAX)
    INTEGER_LIMITS(ck_int16, INT16_MIN, INT16_MAX)
    INTEGER_LIMITS(ck_int32, INT32_MIN, INT32_MAX)
    INTEGER_LIMITS(ck_uint8, 0, UINT8_MAX)
    INTEGER_LIMITS(ck_uint16, 0, UINT16_MAX)
    INTEGER_LIMITS(ck_uint32, 0, UINT32_MAX)
  default: *lower = INT64_MIN; *upper = INT64_MAX;
  }
}

static int64_t integer_within(int64_t x, int64_t lower, int64_t upper) {
  return x < lower ? lower : x > upper ? upper : x;
}

static int64_t integer_truncated(double x) {
  if (isnan(x)) return 0;
  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static inline int64_t integer_clamped(const ck_int_unary_args *u, int64_t x) {
  return integer_within(x, u->lower, u->upper);
}

static inline int64_t integer_map(const ck_int_unary_args *u, const size_t function, int64_t x) {
  switch (function) {
  case ck_unary_relu: return x > 0 ? x : 0;
  case ck_unary_clip: return integer_clamped(u, x);
  case ck_unary_abs: return x < 0 ? (int64_t)-(uint64_t)x : x;
  case ck_unary_negate: return (int64_t)-(uint64_t)x;
  case ck_unary_sign: return (x > 0) - (x < 0);
  case ck_unary_square: return (int64_t)((uint64_t)x * (uint64_t)x);
  case ck_unary_affine: return integer_clamped(u, integer_truncated(u->a * (double)x + u->b));
  case ck_unary_logical_not: return x == 0;
  default: return x;
  }
}

void ck_int_unary_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  ck_int_unary_args bounded = *(const ck_int_unary_args *)args;
  const ck_int_unary_args *u = &bounded;
  int64_t lower, upper;
  integer_limits(u->type, &lower, &upper);
  bool clips = u->function == ck_unary_clip;
  bounded.lower = clips ? integer_within(u->lower, lower, upper) : lower;
  bounded.upper = clips ? integer_within(u->upper, lower, upper) : upper;
  size_t first = begin * ck_strip, last = end * ck_strip < u->count ? end * ck_strip : u->count;
  switch (u->type) {
#define INTEGER_MAP(type, number)                                                                              \
  case number:                                                                                                 \
    for (size_t i = first; i < last; i++)                                                                      \
      ((type *)u->y)[i] = (type)integer_map(u, u->function, ((const type *)u->x)[i]);                          \
    break;
    CK_INTEGER_TYPES(INTEGER_MAP)
  default:
    if (u->function == ck_unary_logical_not)
      for (size_t i = first; i < last; i++) ((uint8_t *)u->y)[i] = ((const uint8_t *)u->x)[i] == 0;
    else
      for (size_t i = first; i < last; i++)
        ((uint8_t *)u->y)[i] = (uint8_t)integer_map(u, u->function, ((const uint8_t *)u->x)[i]);
  }
}

static inline int64_t integer_combine(size_t function, int64_t sum, int64_t x) {
  switch (function) {
  case ck_reduce_maximum: return x > sum ? x : sum;
  case ck_reduce_minimum: return x < sum ? x : sum;
  case ck_reduce_product: return (int64_t)((uint64_t)sum * (uint64_t)x);
  case ck_reduce_l1: return (int64_t)((uint64_t)sum + (x < 0 ? -(uint64_t)x : (uint64_t)x));
  case ck_reduce_sum_of_squares: return (int64_t)((uint64_t)sum + (uint64_t)x * (uint64_t)x);
  default: return (int64_t)((uint64_t)sum + (uint64_t)x);
  }
}

void ck_int_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_int_reduce_args *r = args;
  int64_t lower, upper;
  integer_limits(r->type, &lower, &upper);
  int64_t start = r->function == ck_reduce_product ? 1 : r->function == ck_reduce_maximum ? lower
    : r->function == ck_reduce_minimum ? upper : 0;
  for (size_t outer = begin; outer < end; outer++)
    for (size_t inner = 0; inner < r->inner; inner++) {
      size_t at = outer * r->length * r->inner + inner, to = outer * r->inner + inner;
      int64_t sum = start;
      switch (r->type) {
#define INTEGER_REDUCE(type, number)                                                                          \
  case number:                                                                                                \
    for (size_t k = 0; k < r->length; k++)                                                                    \
      sum = integer_combine(r->function, sum, ((const type *)r->x)[at + k * r->inner]);                       \
    if (r->function == ck_reduce_mean) sum = r->length ? sum / (int64_t)r->length : 0;                           \
    ((type *)r->y)[to] = (type)sum;                                                                           \
    break;
        CK_INTEGER_TYPES(INTEGER_REDUCE)
      default: break;
      }
    }
}

void ck_int_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_int_arg_reduce_args *a = args;
  for (size_t outer = begin; outer < end; outer++)
    for (size_t inner = 0; inner < a->inner; inner++) {
      size_t at = outer * a->length * a->inner + inner, to = outer * a->inner + inner, place = 0;
      int64_t best = typed_integer(a->type, a->x, at);
      for (size_t k = 1; k < a->length; k++) {
        int64_t value = typed_integer(a->type, a->x, at + k * a->inner);
        if ((a->minimum ? value < best : value > best) || (a->takes_last && value == best)) {
          best = value;
          place = k;
        }
      }
      switch (a->element) {
      case 1: ((uint8_t *)a->y)[to] = (uint8_t)place; break;
      case 2: ((uint16_t *)a->y)[to] = (uint16_t)place; break;
      case 4: ((uint32_t *)a->y)[to] = (uint32_t)place; break;
      default: ((uint64_t *)a->y)[to] = place;
      }
    }
}
