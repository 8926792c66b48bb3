#include "broadcast.h"
#include "ck_elements.h"
#include "typed.h"

static int64_t integer_power_of(int64_t x, int64_t exponent) {
  if (exponent < 0) return x == 1 ? 1 : x == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t power = 1, base = (uint64_t)x;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return (int64_t)power;
}

static inline int64_t integer_apply(const size_t function, int64_t x, int64_t y) {
  switch (function) {
  case ck_binary_add: return (int64_t)((uint64_t)x + (uint64_t)y);
  case ck_binary_subtract: return (int64_t)((uint64_t)x - (uint64_t)y);
  case ck_binary_multiply: return (int64_t)((uint64_t)x * (uint64_t)y);
  case ck_binary_minimum: return x < y ? x : y;
  case ck_binary_maximum: return x > y ? x : y;
  case ck_binary_power: return integer_power_of(x, y);
  case ck_binary_logical_and: return x & y;
  case ck_binary_logical_or: return x | y;
  case ck_binary_logical_xor: return x ^ y;
  case ck_binary_shift_left: return y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y);
  case ck_binary_shift_right: return x >> (y < 0 || y > 63 ? 63 : y);
  }
  /* Dividing by -1 may overflow, so it is handled separately. */
  if (y == 0) return 0;
  bool divides = function == ck_binary_divide || function == ck_binary_floor_divide;
  if (y == -1) return divides ? (int64_t)-(uint64_t)x : 0;
  int64_t quotient = x / y, rest = x % y;
  bool rounds_down = rest != 0 && (rest < 0) != (y < 0);
  switch (function) {
  case ck_binary_divide: return quotient;
  case ck_binary_floor_divide: return quotient - rounds_down;
  case ck_binary_modulo: return rounds_down ? rest + y : rest;
  default: return rest;
  }
}

#define INTEGER_LOOP(type, function, x_step, y_step) \
  for (size_t i = 0; i < count; i++) z[i] = (type)integer_apply(function, x[i * x_step], y[i * y_step]);

/* x advances. */
#define INTEGER_CASE(type, function)                             \
  case function:                                                 \
    if (y_step) INTEGER_LOOP(type, function, 1, 1)               \
    else INTEGER_LOOP(type, function, 1, 0)                      \
    break;

/* Operations that give the same bits for signed and unsigned elements. At least one operand advances. */
#define INTEGER_BITS(type)                                                                                          \
  static __attribute__((noinline)) void integer_bits_##type(                                                                                  \
    size_t function, const type *x, size_t x_step, const type *y, size_t y_step, type *z, size_t count) {           \
    if (!x_step) {                                                                                                  \
      if (function == ck_binary_subtract) {                                                                         \
        INTEGER_LOOP(type, ck_binary_subtract, 0, 1)                                                                \
        return;                                                                                                     \
      }                                                                                                             \
      const type *constant = x;                                                                                     \
      x = y, y = constant, y_step = 0;                                                                              \
    }                                                                                                               \
    switch (function) {                                                                                             \
      INTEGER_CASE(type, ck_binary_add)                                                                             \
      INTEGER_CASE(type, ck_binary_subtract)                                                                        \
      INTEGER_CASE(type, ck_binary_multiply)                                                                        \
      INTEGER_CASE(type, ck_binary_logical_and)                                                                     \
      INTEGER_CASE(type, ck_binary_logical_or)                                                                      \
      INTEGER_CASE(type, ck_binary_logical_xor)                                                                     \
    }                                                                                                               \
  }
INTEGER_BITS(uint8_t)
INTEGER_BITS(uint16_t)
INTEGER_BITS(uint32_t)
INTEGER_BITS(uint64_t)

#define INTEGER_BITS_CALL(type) \
  integer_bits_##type(function, (const type *)x, x_step, (const type *)y, y_step, (type *)z, count)

#define INTEGER_SPAN(type, number)                                                                                  \
  static void integer_span_##type(                                                                                  \
    size_t function, const type *x, size_t x_step, const type *y, size_t y_step, type *z, size_t count) {           \
    switch (x_step || y_step ? function : ck_binary_divide) {                                                       \
    case ck_binary_add:                                                                                             \
    case ck_binary_subtract:                                                                                        \
    case ck_binary_multiply:                                                                                        \
    case ck_binary_logical_and:                                                                                     \
    case ck_binary_logical_or:                                                                                      \
    case ck_binary_logical_xor:                                                                                     \
      switch (sizeof(type)) {                                                                                       \
      case 1: INTEGER_BITS_CALL(uint8_t); break;                                                                    \
      case 2: INTEGER_BITS_CALL(uint16_t); break;                                                                   \
      case 4: INTEGER_BITS_CALL(uint32_t); break;                                                                   \
      default: INTEGER_BITS_CALL(uint64_t);                                                                         \
      }                                                                                                             \
      break;                                                                                                        \
    case ck_binary_minimum:                                                                                         \
    case ck_binary_maximum:                                                                                         \
      if (!x_step) {                                                                                                \
        const type *constant = x;                                                                                   \
        x = y, y = constant, y_step = 0;                                                                            \
      }                                                                                                             \
      switch (function) {                                                                                           \
        INTEGER_CASE(type, ck_binary_minimum)                                                                       \
        INTEGER_CASE(type, ck_binary_maximum)                                                                       \
      }                                                                                                             \
      break;                                                                                                        \
    case ck_binary_shift_left:                                                                                      \
    case ck_binary_shift_right:                                                                                     \
      for (size_t i = 0; i < count; i++)                                                                            \
        z[i] = (type)(function == ck_binary_shift_left                                                              \
          ? integer_apply(ck_binary_shift_left, x[i * x_step], y[i * y_step])                                       \
          : integer_apply(ck_binary_shift_right, x[i * x_step], y[i * y_step]));                                    \
      break;                                                                                                        \
    default:                                                                                                        \
      for (size_t i = 0; i < count; i++) z[i] = (type)integer_apply(function, x[i * x_step], y[i * y_step]);        \
    }                                                                                                               \
  }
CK_INTEGER_TYPES(INTEGER_SPAN)

void ck_integer_binary_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_integer_binary_args *b = args;
  size_t last = b->rank - 1;
  broadcast loop = {b->rank, b->sizes, 2, {b->x_strides, b->y_strides}};
  for (broadcast_span span = broadcast_begin(&loop, begin, end); span.result < span.end; broadcast_next(&loop, &span)) {
    switch (b->type) {
#define INTEGER_CALL(type, number)                                                                          \
  case number:                                                                                              \
    integer_span_##type(                                                                                    \
      b->function, (const type *)b->x + span.operands[0], b->x_strides[last],                               \
      (const type *)b->y + span.operands[1], b->y_strides[last], (type *)b->z + span.result, span.count);   \
    break;
      CK_INTEGER_TYPES(INTEGER_CALL)
    default:
      integer_span_uint8_t(
        b->function, (const uint8_t *)b->x + span.operands[0], b->x_strides[last],
        (const uint8_t *)b->y + span.operands[1], b->y_strides[last], (uint8_t *)b->z + span.result, span.count);
    }
  }
}
