/* Conversions between float16 and float32. */
#pragma once
#include "ck_kernels.h"
#include "half.h"
#include "simd.h"

static void CK_NAME(ck_f32_from_f16)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_convert_args *c = args;
  const uint16_t *x = c->x;
  float *y = c->y;
  size_t i = begin * ck_map_chunk, last = end * ck_map_chunk < c->count ? end * ck_map_chunk : c->count;
#if CK_LANES == 16
  for (; i + 16 <= last; i += 16)
    _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(x + i))));
#elif CK_LANES == 8
  for (; i + 8 <= last; i += 8) _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
#elif defined(CK_NEON)
  for (; i + 4 <= last; i += 4) vst1q_f32(y + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x + i))));
#endif
  for (; i < last; i++) y[i] = half_value(x[i]);
}

static void CK_NAME(ck_f16_from_f32)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_convert_args *c = args;
  const float *x = c->x;
  uint16_t *y = c->y;
  size_t i = begin * ck_map_chunk, last = end * ck_map_chunk < c->count ? end * ck_map_chunk : c->count;
#if CK_LANES == 16
  for (; i + 16 <= last; i += 16)
    _mm256_storeu_si256(
      (__m256i *)(y + i), _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif CK_LANES == 8
  for (; i + 8 <= last; i += 8)
    _mm_storeu_si128(
      (__m128i *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(CK_NEON)
  for (; i + 4 <= last; i += 4) vst1_u16(y + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(x + i))));
#endif
  for (; i < last; i++) y[i] = half_bits(x[i]);
}
