/* Vectors of the instruction set of the including file. The including file defines
 *   CK_LANES   float32 lanes of a vector
 *   CK_NAME(x) the name of a kernel with the instruction set's suffix
 *   CK_NEON    if vectors are NEON's
 * and compiles the functions with the matching target attribute. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if CK_LANES > 4
#include <immintrin.h>
#elif defined(CK_NEON)
#include <arm_neon.h>
#endif

#define CK_INLINE static inline __attribute__((always_inline, unused))

typedef float vf __attribute__((ext_vector_type(CK_LANES)));
typedef int32_t vi __attribute__((ext_vector_type(CK_LANES)));

CK_INLINE vf vload(const float *p) {
  vf r;
  memcpy(&r, p, sizeof r);
  return r;
}

CK_INLINE void vstore(float *p, vf x) { memcpy(p, &x, sizeof x); }

/* Loads the first `n` lanes, `n` from 0 to CK_LANES; the others are zero. */
CK_INLINE vf vload_part(const float *p, size_t n) {
#if CK_LANES == 16
  return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif CK_LANES == 8
  __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return (vf)_mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane));
#else
  if (n >= CK_LANES) return vload(p);
  vf r = 0;
  if (n >= 2) memcpy(&r, p, 2 * sizeof *p);
  if (n == 3) r[2] = p[2];
  if (n == 1) r[0] = p[0];
  return r;
#endif
}

CK_INLINE void vstore_part(float *p, vf x, size_t n) {
#if CK_LANES == 16
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#elif CK_LANES == 8
  __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane), (__m256)x);
#else
  if (n >= CK_LANES) vstore(p, x);
  else if (n >= 2) memcpy(p, &x, 2 * sizeof *p);
  if (n == 3) p[2] = x[2];
  if (n == 1) p[0] = x[0];
#endif
}

/* A mask of the lanes of a vector that are loaded; the others are zero. */
#if CK_LANES == 16
typedef __mmask16 vmask;
#elif CK_LANES == 8
typedef vi vmask;
#else
typedef uint32_t vmask;
#endif

/* Lanes `first` to `end`, which may be outside the vector. */
CK_INLINE vmask vmask_range(ptrdiff_t first, ptrdiff_t end) {
  if (first < 0) first = 0;
  if (end > CK_LANES) end = CK_LANES;
#if CK_LANES == 8
  vi mask = 0;
  for (ptrdiff_t lane = 0; lane < CK_LANES; lane++) mask[lane] = lane >= first && lane < end ? -1 : 0;
  return mask;
#else
  return end <= first ? 0 : (vmask)((1u << end) - (1u << first));
#endif
}

/* Accesses only the memory of the lanes in the mask. */
CK_INLINE vf vload_masked(const float *p, vmask mask) {
#if CK_LANES == 16
  return (vf)_mm512_maskz_loadu_ps(mask, p);
#elif CK_LANES == 8
  return (vf)_mm256_maskload_ps(p, (__m256i)mask);
#else
  if (mask == (1u << CK_LANES) - 1) return vload(p);
  vf r = 0;
#pragma clang loop unroll(full)
  for (size_t lane = 0; lane < CK_LANES; lane++)
    if (mask >> lane & 1) r[lane] = p[lane];
  return r;
#endif
}

CK_INLINE vf vset(float x) { return (vf)x; }
CK_INLINE vf vmuladd(vf a, vf b, vf c) { return a * b + c; }
/* A NaN in `x` is kept. */
CK_INLINE vf vatleast(vf x, vf lower) { return lower > x ? lower : x; }
CK_INLINE vf vatmost(vf x, vf upper) { return upper < x ? upper : x; }
CK_INLINE vf vselect(vi mask, vf a, vf b) { return mask ? a : b; }
/* A NaN in either operand is kept. */
CK_INLINE vf vlarger(vf x, vf y) { return vselect(y != y, y, vatleast(x, y)); }
CK_INLINE vf vsmaller(vf x, vf y) { return vselect(y != y, y, vatmost(x, y)); }
CK_INLINE vf vfrombits(vi x) { return (vf)x; }
CK_INLINE vi vbits(vf x) { return (vi)x; }
CK_INLINE vf vabs(vf x) { return (vf)((vi)x & 0x7FFFFFFF); }

/* Rounds to the nearest integer, ties to even, for |x| < 2^22. */
CK_INLINE vf vround_small(vf x) {
  vf magic = (vf)0x1.8p23f;
  vf sum = x + magic;
  return sum - magic;
}

/* 2^n for -126 <= n <= 127. */
CK_INLINE vf vpow2(vi n) { return vfrombits((n + 127) << 23); }

/* x * 2^k for integers k from -252 to 254. */
CK_INLINE vf vscale(vf x, vf k) {
#if CK_LANES == 16
  return (vf)_mm512_scalef_ps((__m512)x, (__m512)k);
#else
  vi n = __builtin_convertvector(k, vi), half = n >> 1;
  return x * vpow2(half) * vpow2(n - half);
#endif
}

/* 1 / x to about one unit in the last place, for 2^-126 <= x <= 2^126. */
CK_INLINE vf vreciprocal(vf x) {
#if CK_LANES == 16
  vf y = (vf)_mm512_rcp14_ps((__m512)x);
  return vmuladd(y, vmuladd(-x, y, vset(1)), y);
#elif defined(CK_NEON)
  vf y = (vf)vrecpeq_f32((float32x4_t)x);
  y *= (vf)vrecpsq_f32((float32x4_t)x, (float32x4_t)y);
  return vmuladd(y, vmuladd(-x, y, vset(1)), y);
#else
  return 1 / x;
#endif
}

/* Lane lanes[i] of x in each lane i. */
CK_INLINE vf vpermute(vf x, vi lanes) {
#if CK_LANES == 16
  return (vf)_mm512_permutexvar_ps((__m512i)lanes, (__m512)x);
#elif CK_LANES == 8
  return (vf)_mm256_permutevar8x32_ps((__m256)x, (__m256i)lanes);
#else
  vf r;
  for (size_t lane = 0; lane < CK_LANES; lane++) r[lane] = x[lanes[lane]];
  return r;
#endif
}

/* The even-numbered lanes of the 2 * CK_LANES elements in `a` and `b`, then the odd-numbered ones. */
#if CK_LANES == 16
#define CK_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define CK_ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif CK_LANES == 8
#define CK_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define CK_ODD 1, 3, 5, 7, 9, 11, 13, 15
#else
#define CK_EVEN 0, 2, 4, 6
#define CK_ODD 1, 3, 5, 7
#endif
CK_INLINE vf veven(vf a, vf b) { return __builtin_shufflevector(a, b, CK_EVEN); }
CK_INLINE vf vodd(vf a, vf b) { return __builtin_shufflevector(a, b, CK_ODD); }

/* Lane i ^ 2^bit of x in each lane i. */
#if CK_LANES == 16
enum { lane_bits = 4 };
#define CK_OTHERS(w) \
  0 ^ w, 1 ^ w, 2 ^ w, 3 ^ w, 4 ^ w, 5 ^ w, 6 ^ w, 7 ^ w, 8 ^ w, 9 ^ w, 10 ^ w, 11 ^ w, 12 ^ w, 13 ^ w, 14 ^ w, 15 ^ w
#elif CK_LANES == 8
enum { lane_bits = 3 };
#define CK_OTHERS(w) 0 ^ w, 1 ^ w, 2 ^ w, 3 ^ w, 4 ^ w, 5 ^ w, 6 ^ w, 7 ^ w
#else
enum { lane_bits = 2 };
#define CK_OTHERS(w) 0 ^ w, 1 ^ w, 2 ^ w, 3 ^ w
#endif
CK_INLINE vf vother(vf x, const size_t bit) {
  switch (bit) {
#if CK_LANES == 16
    case 3: return __builtin_shufflevector(x, x, CK_OTHERS(8));
#endif
#if CK_LANES >= 8
    case 2: return __builtin_shufflevector(x, x, CK_OTHERS(4));
#endif
    case 1: return __builtin_shufflevector(x, x, CK_OTHERS(2));
    default: return __builtin_shufflevector(x, x, CK_OTHERS(1));
  }
}

/* Element `i` of `p` in every lane. NEON multiplies by a lane of a vector, so four elements are loaded at a time;
 * `p` must be readable up to the next multiple of four. */
CK_INLINE vf vspread(const float *p, size_t i) {
#if defined(CK_NEON)
  vf x = vload(p + i / 4 * 4);
  return vset(x[i % 4]);
#else
  return vset(p[i]);
#endif
}

CK_INLINE float vsum(vf x) {
#pragma clang loop unroll(full)
  for (size_t bit = lane_bits; bit-- > 0;) x += vother(x, bit);
  return x[0];
}

/* The first `n` lanes of x, and the others of y. */
CK_INLINE vf vfirst(vf x, size_t n, vf y) {
  vi lane;
#pragma clang loop unroll(full)
  for (int32_t i = 0; i < CK_LANES; i++) lane[i] = i;
  return vselect(lane < (int32_t)n, x, y);
}
