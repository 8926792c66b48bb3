/* Conversions of elements. Each pair of types has a loop of its own, which the compiler vectorizes. */
#pragma once
#include "simd.h"
#include "typed.h"

typedef void (*cast_loop)(const void *x, void *y, size_t count);

/* Defines a loop; `expression` converts x. */
#define CAST(from, name, to, expression)                                                                             \
  static __attribute__((noinline)) void CK_NAME(cast_##from##_##name)(                                               \
    const void *restrict xs, void *restrict ys, size_t count) {                                                      \
    const from *source = xs;                                                                                         \
    to *target = ys;                                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                                             \
      from x = source[i];                                                                                            \
      target[i] = expression;                                                                                        \
    }                                                                                                                \
  }

/* The low bits of an integer do not depend on its sign, nor on the sign of the result. */
#define CAST_INTEGER(from, to) CAST(from, to, to, (to)x)
CAST_INTEGER(uint8_t, uint8_t)
CAST_INTEGER(uint16_t, uint8_t)
CAST_INTEGER(uint32_t, uint8_t)
CAST_INTEGER(uint64_t, uint8_t)
CAST_INTEGER(uint16_t, uint16_t)
CAST_INTEGER(uint32_t, uint16_t)
CAST_INTEGER(uint64_t, uint16_t)
CAST_INTEGER(uint32_t, uint32_t)
CAST_INTEGER(uint64_t, uint32_t)
CAST_INTEGER(uint64_t, uint64_t)
CAST_INTEGER(int8_t, uint16_t)
CAST_INTEGER(int8_t, uint32_t)
CAST_INTEGER(int8_t, uint64_t)
CAST_INTEGER(uint8_t, uint16_t)
CAST_INTEGER(uint8_t, uint32_t)
CAST_INTEGER(uint8_t, uint64_t)
CAST_INTEGER(int16_t, uint32_t)
CAST_INTEGER(int16_t, uint64_t)
CAST_INTEGER(uint16_t, uint32_t)
CAST_INTEGER(uint16_t, uint64_t)
CAST_INTEGER(int32_t, uint64_t)
CAST_INTEGER(uint32_t, uint64_t)

#define CAST_TRUTH(from) CAST(from, bool, uint8_t, x != 0)
CAST_TRUTH(uint8_t)
CAST_TRUTH(uint16_t)
CAST_TRUTH(uint32_t)
CAST_TRUTH(uint64_t)
CAST_TRUTH(float)
CAST_TRUTH(double)

#define CAST_REAL(from) CAST(from, float, float, (float)x) CAST(from, double, double, (double)x)
CAST_REAL(int8_t)
CAST_REAL(int16_t)
CAST_REAL(int32_t)
CAST_REAL(int64_t)
CAST_REAL(uint8_t)
CAST_REAL(uint16_t)
CAST_REAL(uint32_t)
CAST_REAL(uint64_t)
CAST(float, double, double, (double)x)
CAST(double, float, float, (float)x)

/* A number beyond the type becomes its nearest integer, and NaN 0. The bounds of CAST_CLAMPED are exact in `from`.
 * `beyond` of CAST_CHOSEN is the first number above the type. The built-in functions return the bound for NaN, and keep
 * the compiler from moving comparisons after the conversion. */
#define CAST_CLAMPED(from, to, number, least, most) \
  CAST(from, to, to, (to)__builtin_elementwise_min(__builtin_elementwise_max(number, (from)least), (from)most))
#define CAST_SIGNED(from, to, least, most) CAST_CLAMPED(from, to, x == x ? x : 0, least, most)
#define CAST_UNSIGNED(from, to, most) CAST_CLAMPED(from, to, x, 0, most)
#define CAST_CHOSEN(from, to, least, most, beyond)                                                      \
  CAST(                                                                                                 \
    from, to, to,                                                                                       \
    x >= (from)beyond ? most : x < (from)least ? least : (to)(x >= (from)least && x < (from)beyond ? x : 0))
#define CAST_SMALL(from)                           \
  CAST_SIGNED(from, int8_t, INT8_MIN, INT8_MAX)    \
  CAST_UNSIGNED(from, uint8_t, UINT8_MAX)          \
  CAST_SIGNED(from, int16_t, INT16_MIN, INT16_MAX) \
  CAST_UNSIGNED(from, uint16_t, UINT16_MAX)
CAST_SMALL(float)
CAST_SMALL(double)
CAST_CHOSEN(float, int32_t, INT32_MIN, INT32_MAX, 0x1p31)
CAST_CHOSEN(float, uint32_t, 0, UINT32_MAX, 0x1p32)
CAST_SIGNED(double, int32_t, INT32_MIN, INT32_MAX)
CAST_UNSIGNED(double, uint32_t, UINT32_MAX)
#if CK_LANES == 8
/* The bits of an integer from -2^63 up to 2^64. AVX2 has no instruction for 64-bit integers, so that each half is added
 * to a number whose lowest bit is 1. */
CK_INLINE uint64_t cast_integral(double x) {
  double high = floor(x * 0x1p-32), low = x - high * 0x1p32;
  double shifted[] = {high + 0x1.8p52, low + 0x1p52};
  uint64_t bits[2];
  memcpy(bits, shifted, sizeof bits);
  return bits[0] << 32 | (bits[1] & UINT32_MAX);
}
CK_INLINE uint64_t cast_int64(double x) {
  uint64_t inside = cast_integral(trunc(x < -0x1p63 ? -0x1p63 : x));
  return x >= 0x1p63 ? INT64_MAX : x == x ? inside : 0;
}
CK_INLINE uint64_t cast_uint64(double x) {
  uint64_t inside = cast_integral(trunc(x > 0 ? x : 0));
  return x >= 0x1p64 ? UINT64_MAX : inside;
}
#define CAST_LONG(from)                                \
  CAST(from, int64_t, uint64_t, cast_int64((double)x)) \
  CAST(from, uint64_t, uint64_t, cast_uint64((double)x))
#else
#define CAST_LONG(from)                                    \
  CAST_CHOSEN(from, int64_t, INT64_MIN, INT64_MAX, 0x1p63) \
  CAST_CHOSEN(from, uint64_t, 0, UINT64_MAX, 0x1p64)
#endif
CAST_LONG(float)
CAST_LONG(double)

/* `bits` is the unsigned type of the same size; the others have the sign of `from` where they extend it. */
#define CAST_ROW(from, bits, to16, to32, to64)                                                                 \
  {[ck_float32] = CK_NAME(cast_##from##_float),    [ck_float64] = CK_NAME(cast_##from##_double),               \
   [ck_int8] = CK_NAME(cast_##bits##_uint8_t),     [ck_uint8] = CK_NAME(cast_##bits##_uint8_t),                \
   [ck_int16] = CK_NAME(cast_##to16##_uint16_t),   [ck_uint16] = CK_NAME(cast_##to16##_uint16_t),              \
   [ck_int32] = CK_NAME(cast_##to32##_uint32_t),   [ck_uint32] = CK_NAME(cast_##to32##_uint32_t),              \
   [ck_int64] = CK_NAME(cast_##to64##_uint64_t),   [ck_uint64] = CK_NAME(cast_##to64##_uint64_t),              \
   [ck_bool] = CK_NAME(cast_##bits##_bool)}
#define CAST_REAL_ROW(from, real, name)                                                                        \
  {[real] = CK_NAME(cast_##from##_##name),         [ck_bool] = CK_NAME(cast_##from##_bool),                    \
   [ck_int8] = CK_NAME(cast_##from##_int8_t),      [ck_uint8] = CK_NAME(cast_##from##_uint8_t),                \
   [ck_int16] = CK_NAME(cast_##from##_int16_t),    [ck_uint16] = CK_NAME(cast_##from##_uint16_t),              \
   [ck_int32] = CK_NAME(cast_##from##_int32_t),    [ck_uint32] = CK_NAME(cast_##from##_uint32_t),              \
   [ck_int64] = CK_NAME(cast_##from##_int64_t),    [ck_uint64] = CK_NAME(cast_##from##_uint64_t)}

enum { cast_types = ck_bool + 1 };

/* Indexed by the types of x and y, which differ. */
static const cast_loop CK_NAME(casts)[cast_types][cast_types] = {
  [ck_float32] = CAST_REAL_ROW(float, ck_float64, double),
  [ck_float64] = CAST_REAL_ROW(double, ck_float32, float),
  [ck_int8] = CAST_ROW(int8_t, uint8_t, int8_t, int8_t, int8_t),
  [ck_uint8] = CAST_ROW(uint8_t, uint8_t, uint8_t, uint8_t, uint8_t),
  [ck_bool] = CAST_ROW(uint8_t, uint8_t, uint8_t, uint8_t, uint8_t),
  [ck_int16] = CAST_ROW(int16_t, uint16_t, uint16_t, int16_t, int16_t),
  [ck_uint16] = CAST_ROW(uint16_t, uint16_t, uint16_t, uint16_t, uint16_t),
  [ck_int32] = CAST_ROW(int32_t, uint32_t, uint32_t, uint32_t, int32_t),
  [ck_uint32] = CAST_ROW(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t),
  [ck_int64] = CAST_ROW(int64_t, uint64_t, uint64_t, uint64_t, uint64_t),
  [ck_uint64] = CAST_ROW(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t),
};

static void CK_NAME(ck_cast)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cast_args *c = args;
  size_t first = begin * ck_strip, last = end * ck_strip < c->count ? end * ck_strip : c->count;
  const char *x = (const char *)c->x + first * typed_size(c->from);
  CK_NAME(casts)[c->from][c->to](x, (char *)c->y + first * typed_size(c->to), last - first);
}
