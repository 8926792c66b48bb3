/* Conversions between real numbers and integers, and element-wise functions of quantized integers. */
#pragma once
#include "quantize_run.h"
#include <math.h>

/* A chunk of elements that share a scale and a zero point or have neighbouring ones. */
typedef struct {
  size_t first, count, parameter;
} quantize_chunk;

static quantize_chunk quantize_chunk_of(const ck_quantize_args *q, size_t item) {
  size_t chunks = (q->inner + ck_map_chunk - 1) / ck_map_chunk, line = item / chunks;
  size_t inner = item % chunks * ck_map_chunk;
  return (quantize_chunk){
    line * q->inner + inner, integer_min(ck_map_chunk, q->inner - inner),
    line / q->length * q->outer_stride + line % q->length / q->block * q->stride + inner * q->inner_stride};
}

#define CK_QUANTIZE(type, low, high)                                                                                 \
  static void CK_NAME(ck_quantize_##type)(const ck_quantize_args *q, quantize_chunk c) {                             \
    const float *x = (const float *)q->x + c.first, *scale = q->scale + c.parameter;                                 \
    const type *zero = (const type *)q->zero + c.parameter;                                                          \
    type *y = (type *)q->y + c.first;                                                                                \
    if (q->inner_stride == 0) {                                                                                      \
      CK_NAME(ck_quantize_run_##type)(x, c.count, *scale, *zero, y);                                                 \
      return;                                                                                                        \
    }                                                                                                                \
    for (size_t i = 0; i < c.count; i++) {                                                                           \
      float r = x[i] / scale[i], lower = (float)(low - zero[i]), upper = (float)(high - zero[i]);                    \
      float v = r > lower ? r : lower;                                                                               \
      v = v < upper ? v : upper;                                                                                     \
      union { float f; int32_t i; } rounded = {v + 0x1.8p23f};                                                       \
      y[i] = r == r ? (type)(rounded.i - 0x4B400000 + zero[i]) : 0;                                                  \
    }                                                                                                                \
  }

CK_QUANTIZE(uint8_t, 0, 255)
CK_QUANTIZE(int8_t, -128, 127)
CK_QUANTIZE(uint16_t, 0, 65535)
CK_QUANTIZE(int16_t, -32768, 32767)

static void CK_NAME(ck_quantize_int32_t)(const ck_quantize_args *q, quantize_chunk c) {
  const float *x = (const float *)q->x + c.first;
  for (size_t i = 0; i < c.count; i++) {
    size_t at = c.parameter + i * q->inner_stride;
    double v = rint((double)(x[i] / q->scale[at])) + ((const int32_t *)q->zero)[at];
    v = v == v ? v : 0;
    ((int32_t *)q->y)[c.first + i] = v >= 0x1p31 ? INT32_MAX : v <= -0x1p31 ? INT32_MIN : (int32_t)v;
  }
}

static void CK_NAME(ck_i8_quantize)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_quantize_args *q = args;
  for (size_t item = begin; item < end; item++) {
    quantize_chunk chunk = quantize_chunk_of(q, item);
    switch (q->type) {
    case ck_uint8: CK_NAME(ck_quantize_uint8_t)(q, chunk); break;
    case ck_int8: CK_NAME(ck_quantize_int8_t)(q, chunk); break;
    case ck_uint16: CK_NAME(ck_quantize_uint16_t)(q, chunk); break;
    case ck_int16: CK_NAME(ck_quantize_int16_t)(q, chunk); break;
    default: CK_NAME(ck_quantize_int32_t)(q, chunk); break;
    }
  }
}

#define CK_DEQUANTIZE(type, wide)                                                                                    \
  static void CK_NAME(ck_dequantize_##type)(const ck_quantize_args *q, quantize_chunk c) {                           \
    const type *x = (const type *)q->x + c.first, *zero = (const type *)q->zero + c.parameter;                       \
    const float *scale = q->scale + c.parameter;                                                                     \
    float *y = (float *)q->y + c.first;                                                                              \
    if (q->inner_stride == 0) {                                                                                      \
      float s = *scale;                                                                                              \
      wide z = *zero;                                                                                                \
      for (size_t i = 0; i < c.count; i++) y[i] = (float)(x[i] - z) * s;                                             \
    } else {                                                                                                         \
      for (size_t i = 0; i < c.count; i++) y[i] = (float)((wide)x[i] - zero[i]) * scale[i];                          \
    }                                                                                                                \
  }

CK_DEQUANTIZE(uint8_t, int32_t)
CK_DEQUANTIZE(int8_t, int32_t)
CK_DEQUANTIZE(uint16_t, int32_t)
CK_DEQUANTIZE(int16_t, int32_t)
CK_DEQUANTIZE(int32_t, int64_t)

static void CK_NAME(ck_i8_dequantize)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_quantize_args *q = args;
  for (size_t item = begin; item < end; item++) {
    quantize_chunk chunk = quantize_chunk_of(q, item);
    switch (q->type) {
    case ck_uint8: CK_NAME(ck_dequantize_uint8_t)(q, chunk); break;
    case ck_int8: CK_NAME(ck_dequantize_int8_t)(q, chunk); break;
    case ck_uint16: CK_NAME(ck_dequantize_uint16_t)(q, chunk); break;
    case ck_int16: CK_NAME(ck_dequantize_int16_t)(q, chunk); break;
    default: CK_NAME(ck_dequantize_int32_t)(q, chunk); break;
    }
  }
}

CK_INLINE vf integer_load_reals(const uint8_t *p, size_t n, bool is_signed) {
  vb bytes = 0;
  if (n == CK_LANES) memcpy(&bytes, p, CK_LANES);
  else memcpy(&bytes, p, n);
  return is_signed ? __builtin_convertvector((vsb)bytes, vf) : __builtin_convertvector(bytes, vf);
}

#if CK_INTEGER_GROUP == 4 && CK_LANES == 16
/* Computes sums of 64 elements at a time, with the same rounding; returns the number of elements. Sums beyond int32
 * would become its lowest number; ratios below 2^20 exclude them. */
CK_INLINE size_t integer_add_pixels(
  const ck_quantized_binary_args *b, size_t x_at, size_t y_at, uint8_t *z, size_t count, float x_ratio, float y_ratio,
  float fixed) {
  if (!(fabsf(x_ratio) < 0x1p20f && fabsf(y_ratio) < 0x1p20f)) return 0;
  size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m512i r[4];
#pragma clang loop unroll(full)
    for (size_t part = 0; part < 4; part++) {
      size_t at = i + part * CK_LANES;
      vf x = integer_load_reals(b->x + x_at + at, CK_LANES, b->is_signed);
      vf y = integer_load_reals(b->y + y_at + at, CK_LANES, b->is_signed);
      r[part] = _mm512_cvtps_epi32((__m512)vmuladd(x, vset(x_ratio), vmuladd(y, vset(y_ratio), vset(fixed))));
    }
    __m512i low = _mm512_packs_epi32(r[0], r[1]), high = _mm512_packs_epi32(r[2], r[3]);
    __m512i bytes = b->is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(z + i, _mm512_permutexvar_epi32(order, bytes));
  }
  return i;
}
#endif

static void CK_NAME(ck_i8_binary)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_quantized_binary_args *b = args;
  size_t inner = b->sizes[b->rank - 1], chunks = (inner + ck_map_chunk - 1) / ck_map_chunk;
  size_t x_step = b->x_strides[b->rank - 1], y_step = b->y_strides[b->rank - 1];
  float zeros[3];
  for (size_t i = 0; i < 3; i++) zeros[i] = (float)integer_value(b->zeros[i], b->is_signed);
  float x_ratio = *b->scales[0] / *b->scales[2], y_ratio = *b->scales[1] / *b->scales[2];
  float product = *b->scales[0] * *b->scales[1] / *b->scales[2];
  float fixed = zeros[2] - (x_ratio * zeros[0] + y_ratio * zeros[1]);
  float lower = b->is_signed ? -128 : 0, upper = lower + 255;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_map_chunk, rest = item / chunks, x_at = first * x_step, y_at = first * y_step;
    for (size_t axis = b->rank - 1; axis-- > 0; rest /= b->sizes[axis]) {
      x_at += rest % b->sizes[axis] * b->x_strides[axis];
      y_at += rest % b->sizes[axis] * b->y_strides[axis];
    }
    uint8_t *z = b->z + item / chunks * inner + first;
    size_t count = integer_min(ck_map_chunk, inner - first);
    size_t i = 0;
#if CK_INTEGER_GROUP == 4 && CK_LANES == 16
    if (x_step && y_step && !b->is_product)
      i = integer_add_pixels(b, x_at, y_at, z, count, x_ratio, y_ratio, fixed);
#endif
    for (; i < count; i += CK_LANES) {
      size_t n = integer_min(CK_LANES, count - i);
      vf x = x_step ? integer_load_reals(b->x + x_at + i, n, b->is_signed)
                    : vset((float)integer_value(b->x + x_at, b->is_signed));
      vf y = y_step ? integer_load_reals(b->y + y_at + i, n, b->is_signed)
                    : vset((float)integer_value(b->y + y_at, b->is_signed));
      vf r;
      if (b->is_product) {
        r = (x - vset(zeros[0])) * (y - vset(zeros[1])) * vset(product);
        r = vatmost(vatleast(r, vset(lower - zeros[2])), vset(upper - zeros[2]));
        wstore_bytes(z + i, (vw)(vround_integer(r) + (int32_t)zeros[2]), n);
      } else {
        r = vmuladd(y, vset(y_ratio), vset(fixed));
        r = vmuladd(x, vset(x_ratio), r);
        r = vatmost(vatleast(r, vset(lower)), vset(upper));
        wstore_bytes(z + i, (vw)vround_integer(r), n);
      }
    }
  }
}
