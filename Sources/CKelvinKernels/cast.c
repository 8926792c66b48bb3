#include "ck_kernels.h"
#include "half.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Integers are converted through 64-bit integers, so that conversions between integer types lose no digits. */
typedef struct {
  bool is_integer;
  bool is_unsigned;
  int64_t integer;
  double real;
} cast_value;

static cast_value cast_load(ck_scalar type, const void *x, size_t i) {
  switch (type) {
  case ck_float16: return (cast_value){.real = half_value(((const uint16_t *)x)[i])};
  case ck_float32: return (cast_value){.real = ((const float *)x)[i]};
  case ck_float64: return (cast_value){.real = ((const double *)x)[i]};
  case ck_int8: return (cast_value){true, false, ((const int8_t *)x)[i], 0};
  case ck_int16: return (cast_value){true, false, ((const int16_t *)x)[i], 0};
  case ck_int32: return (cast_value){true, false, ((const int32_t *)x)[i], 0};
  case ck_int64: return (cast_value){true, false, ((const int64_t *)x)[i], 0};
  case ck_uint8:
  case ck_bool: return (cast_value){true, false, ((const uint8_t *)x)[i], 0};
  case ck_uint16: return (cast_value){true, false, ((const uint16_t *)x)[i], 0};
  case ck_uint32: return (cast_value){true, false, ((const uint32_t *)x)[i], 0};
  case ck_uint64: return (cast_value){true, true, (int64_t)((const uint64_t *)x)[i], 0};
  }
  return (cast_value){0};
}

static double cast_real(cast_value x) {
  return !x.is_integer ? x.real : x.is_unsigned ? (double)(uint64_t)x.integer : (double)x.integer;
}

/* Returns the bits of an integer, of which the caller keeps the low ones; or a real number truncated and saturated
 * to [lower, upper]. */
static int64_t cast_integer(cast_value x, int64_t lower, int64_t upper) {
  if (x.is_integer) return x.integer;
  if (isnan(x.real)) return 0;
  int64_t integer = x.real >= 0x1p63 ? INT64_MAX : x.real < -0x1p63 ? INT64_MIN : (int64_t)x.real;
  return integer < lower ? lower : integer > upper ? upper : integer;
}

static uint64_t cast_unsigned(cast_value x) {
  if (x.is_integer) return (uint64_t)x.integer;
  if (!(x.real > 0)) return 0;
  return x.real >= 0x1p64 ? UINT64_MAX : (uint64_t)x.real;
}

static float cast_float(cast_value x) {
  return !x.is_integer ? (float)x.real : x.is_unsigned ? (float)(uint64_t)x.integer : (float)x.integer;
}

#define CAST_PLAIN(from_type, from_number, to_type, to_number)                                    \
  if (c->from == from_number && c->to == to_number) {                                             \
    for (size_t i = first; i < last; i++) ((to_type *)c->y)[i] = (to_type)((const from_type *)c->x)[i]; \
    return true;                                                                                  \
  }

/* A number beyond the type becomes its nearest integer, and NaN 0. The bounds are exact in float32. */
#define CAST_SATURATED(to_type, to_number, lower, upper, least, most)                             \
  if (c->from == ck_float32 && c->to == to_number) {                                              \
    const float *from = c->x;                                                                     \
    to_type *to = c->y;                                                                           \
    for (size_t i = first; i < last; i++) {                                                       \
      float x = from[i];                                                                          \
      bool is_inside = (x >= lower) & (x < upper);                                                \
      to_type inside = (to_type)(is_inside ? x : 0);                                              \
      to[i] = x >= upper ? most : x < lower ? least : inside;                                     \
    }                                                                                             \
    return true;                                                                                  \
  }

/* Converts vectors of float32 to int32 and returns the first element that is left. The instruction gives the least integer
 * for NaN and for numbers beyond the type. */
static size_t cast_vectors(const ck_cast_args *c, size_t i, size_t last) {
#ifdef __SSE2__
  const float *from = c->x;
  for (; i + 4 <= last; i += 4) {
    __m128 x = _mm_loadu_ps(from + i);
    __m128i integer = _mm_cvttps_epi32(x);
    integer = _mm_xor_si128(integer, _mm_castps_si128(_mm_cmpge_ps(x, _mm_set1_ps(0x1p31f))));
    integer = _mm_and_si128(integer, _mm_castps_si128(_mm_cmpord_ps(x, x)));
    _mm_storeu_si128((__m128i *)((int32_t *)c->y + i), integer);
  }
#else
  (void)c, (void)last;
#endif
  return i;
}

/* Converts elements of frequent pairs of types in loops of their own. */
static bool cast_frequent(const ck_cast_args *c, size_t first, size_t last) {
  if (c->from == ck_float32 && c->to == ck_int32) first = cast_vectors(c, first, last);
  CAST_SATURATED(int32_t, ck_int32, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX)
  CAST_SATURATED(int64_t, ck_int64, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX)
  CAST_SATURATED(uint8_t, ck_uint8, 0.0f, 256.0f, 0, UINT8_MAX)
  CAST_SATURATED(int8_t, ck_int8, -128.0f, 128.0f, INT8_MIN, INT8_MAX)
  CAST_PLAIN(int32_t, ck_int32, float, ck_float32)
  CAST_PLAIN(int64_t, ck_int64, float, ck_float32)
  CAST_PLAIN(uint8_t, ck_uint8, float, ck_float32)
  CAST_PLAIN(uint8_t, ck_bool, float, ck_float32)
  CAST_PLAIN(int8_t, ck_int8, float, ck_float32)
  CAST_PLAIN(int32_t, ck_int32, int64_t, ck_int64)
  CAST_PLAIN(int64_t, ck_int64, int32_t, ck_int32)
  CAST_PLAIN(uint8_t, ck_bool, int32_t, ck_int32)
  CAST_PLAIN(uint8_t, ck_bool, int64_t, ck_int64)
  if (c->from == ck_float32 && c->to == ck_bool) {
    for (size_t i = first; i < last; i++) ((uint8_t *)c->y)[i] = ((const float *)c->x)[i] != 0;
    return true;
  }
  return false;
}

void ck_cast_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cast_args *c = args;
  size_t first = begin * ck_map_chunk, last = end * ck_map_chunk < c->count ? end * ck_map_chunk : c->count;
  if (cast_frequent(c, first, last)) return;
  for (size_t i = first; i < last; i++) {
    cast_value x = cast_load(c->from, c->x, i);
    switch (c->to) {
    case ck_float16: ((uint16_t *)c->y)[i] = half_bits(cast_real(x)); break;
    case ck_float32: ((float *)c->y)[i] = cast_float(x); break;
    case ck_float64: ((double *)c->y)[i] = cast_real(x); break;
    case ck_int8: ((int8_t *)c->y)[i] = (int8_t)cast_integer(x, INT8_MIN, INT8_MAX); break;
    case ck_int16: ((int16_t *)c->y)[i] = (int16_t)cast_integer(x, INT16_MIN, INT16_MAX); break;
    case ck_int32: ((int32_t *)c->y)[i] = (int32_t)cast_integer(x, INT32_MIN, INT32_MAX); break;
    case ck_int64: ((int64_t *)c->y)[i] = cast_integer(x, INT64_MIN, INT64_MAX); break;
    case ck_uint8: ((uint8_t *)c->y)[i] = (uint8_t)cast_integer(x, 0, UINT8_MAX); break;
    case ck_uint16: ((uint16_t *)c->y)[i] = (uint16_t)cast_integer(x, 0, UINT16_MAX); break;
    case ck_uint32: ((uint32_t *)c->y)[i] = (uint32_t)cast_integer(x, 0, UINT32_MAX); break;
    case ck_uint64: ((uint64_t *)c->y)[i] = cast_unsigned(x); break;
    case ck_bool: ((uint8_t *)c->y)[i] = x.is_integer ? x.integer != 0 : x.real != 0; break;
    }
  }
}
