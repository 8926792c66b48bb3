/* Instructions for vectors of float16: those of AVX512-FP16 or of NEON, or their emulation in plain C, which computes
 * the same bits. A vector of words has 2 * CK_LANES numbers. */
#pragma once
#include "ck_kernels.h"
#include "half.h"
#include "simd.h"

/* The words of a sum in float16: `Precision.low` allows runs of 16 products. */
enum { half_run = 16 };

CK_INLINE vnarrow half_round(vf x) {
#if CK_LANES == 16
  return (vnarrow)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(CK_NEON)
  return (vnarrow)vcvt_f16_f32((float32x4_t)x);
#else
  vnarrow bits;
  for (size_t lane = 0; lane < CK_LANES; lane++) bits[lane] = half_bits_of(x[lane]);
  return bits;
#endif
}

CK_INLINE vf half_numbers(vnarrow bits) {
#if CK_LANES == 16
  return (vf)_mm512_cvtph_ps((__m256i)bits);
#elif defined(CK_NEON)
  return (vf)vcvt_f32_f16((float16x4_t)bits);
#else
  vf numbers;
  for (size_t lane = 0; lane < CK_LANES; lane++) numbers[lane] = half_value(bits[lane]);
  return numbers;
#endif
}

/* sum + a * b for each number, rounded once to float16, ties to even. Denormals are numbers. */
CK_INLINE vf half_muladd(vf a, vf b, vf sum) {
#if CK_LANES == 16
  return (vf)_mm512_fmadd_ph((__m512h)a, (__m512h)b, (__m512h)sum);
#elif defined(CK_NEON)
  return (vf)vfmaq_f16((float16x8_t)sum, (float16x8_t)a, (float16x8_t)b);
#else
  uint16_t x[2 * CK_LANES], y[2 * CK_LANES], z[2 * CK_LANES];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  memcpy(z, &sum, sizeof z);
  /* The sum is exact in float64, or so far from a tie that rounding it twice is harmless. */
  for (size_t i = 0; i < 2 * CK_LANES; i++)
    z[i] = half_bits((double)half_value(x[i]) * (double)half_value(y[i]) + (double)half_value(z[i]));
  memcpy(&sum, z, sizeof z);
  return sum;
#endif
}

/* Sums in float32: of the even and the odd numbers of the lower half of the words in turn, then of the upper half. */
typedef struct {
  vf halves[2];
} half_wide;

/* Adds a sum to the wide ones, and clears it. */
CK_INLINE void half_widen(vf *sum, half_wide *wide) {
  vnarrow halves[2];
  memcpy(halves, sum, sizeof halves);
#if CK_LANES == 16
  /* A conversion from memory takes fewer instructions of the vector units than one from a part of a register. */
  __asm__("" : "+m"(halves));
#endif
  for (size_t i = 0; i < 2; i++) wide->halves[i] += half_numbers(halves[i]);
  *sum = vset(0);
}

CK_INLINE vf half_total(const half_wide *wide) {
  return veven(wide->halves[0], wide->halves[1]) + vodd(wide->halves[0], wide->halves[1]);
}
