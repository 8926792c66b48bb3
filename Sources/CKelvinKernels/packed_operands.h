/* The operands of products as 32-bit words. A word is a float32. If the including file defines CK_BFLOAT or CK_HALF, it
 * is two numbers that are neighbours along the depth, rounded to bfloat16 or float16. The last word of an odd depth is
 * padded with a zero. If it defines CK_TILES, words are pairs of bfloat16, but the depth is padded to whole tiles.
 * Memory of words is typed as floats. */
#pragma once
#include "bfloat.h"
#include "ck_kernels.h"
#include "half_scale.h"
#include "simd.h"

#if defined(CK_BFLOAT) || defined(CK_HALF)
#define CK_PAIRS
#endif
#if defined(CK_PAIRS) || defined(CK_TILES)
enum { numbers_per_unit = 2 };
#else
enum { numbers_per_unit = 1 };
#endif
/* Words of CK_LANES numbers. */
enum { unit_lanes = CK_LANES / numbers_per_unit };

#ifdef CK_TILES
CK_INLINE size_t packed_of(size_t numbers) { return ck_packed_count(ck_operands_tiles, numbers); }
#else
CK_INLINE size_t packed_of(size_t numbers) { return (numbers + numbers_per_unit - 1) / numbers_per_unit; }
#endif

#if defined(CK_PAIRS) || defined(CK_TILES)
/* The numbers of a vector, as bits of the type of the operands. */
typedef uint16_t vnarrow __attribute__((ext_vector_type(CK_LANES)));
#endif
#ifdef CK_HALF
#include "half_unit.h"
#endif

/* Sums of products of words: of float32 and bfloat16 in float32. Of float16 in float16 for at most `half_run` words,
 * whose sums are then added to `wide`. */
#ifdef CK_HALF
typedef half_wide packed_wide;
CK_INLINE size_t packed_run(size_t words) { return words < half_run ? words : half_run; }
CK_INLINE void packed_widen(vf *sum, packed_wide *wide) { half_widen(sum, wide); }
CK_INLINE vf packed_total(vf sum, const packed_wide *wide) {
  (void)sum;
  return half_total(wide);
}
#else
typedef struct {
} packed_wide;
CK_INLINE size_t packed_run(size_t words) { return words; }
CK_INLINE void packed_widen(vf *sum, packed_wide *wide) { (void)sum, (void)wide; }
CK_INLINE vf packed_total(vf sum, const packed_wide *wide) {
  (void)wide;
  return sum;
}
#endif

/* sum + a * b, of the one or two numbers in each word. */
CK_INLINE vf packed_muladd(vf a, vf b, vf sum) {
#if defined(CK_HALF)
  return half_muladd(a, b, sum);
#elif defined(CK_BFLOAT) && CK_LANES == 16
  return (vf)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#elif defined(CK_BFLOAT)
  return (vf)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)a, (bfloat16x8_t)b);
#else
  return vmuladd(a, b, sum);
#endif
}

#if defined(CK_PAIRS) || defined(CK_TILES)
/* Rounds to the type of the operands. Rounding to bfloat16 makes zeros of denormals. */
CK_INLINE vnarrow packed_round(vf x) {
#if defined(CK_HALF)
  return half_round(x);
#elif CK_LANES == 16
  return (vnarrow)_mm512_cvtneps_pbh((__m512)x);
#elif defined(CK_BFLOAT)
  return (vnarrow)vcvt_bf16_f32((float32x4_t)x);
#else
  vnarrow bits;
  for (size_t lane = 0; lane < CK_LANES; lane++) bits[lane] = bfloat_bits(flushed(x[lane]));
  return bits;
#endif
}
#endif

CK_INLINE void packed_store(float *to, vf numbers) {
#ifdef CK_PAIRS
  vnarrow bits = packed_round(numbers);
  memcpy(to, &bits, sizeof bits);
#else
  vstore(to, numbers);
#endif
}

/* Loads CK_LANES numbers, of which `mask` selects those that are not padding. Padding may have any value if each
 * number has its own word, because products do not read it. */
CK_INLINE vf packed_load_numbers(const float *from, vmask mask) {
#ifdef CK_PAIRS
  return vload_masked(from, mask);
#else
  (void)mask;
  return vload(from);
#endif
}

/* The number at that position in each word. */
CK_INLINE vf packed_numbers(vf words, size_t place) {
#if defined(CK_HALF)
  return half_numbers(__builtin_convertvector(place ? vbits(words) >> 16 : vbits(words), vnarrow));
#elif defined(CK_BFLOAT) || defined(CK_TILES)
  return vfrombits(place ? vbits(words) & ~0xFFFF : vbits(words) << 16);
#else
  (void)place;
  return words;
#endif
}

/* Words whose numbers are `a` and, if words have two numbers, `b`. */
CK_INLINE vf packed_join(vf a, vf b) {
#if defined(CK_PAIRS) || defined(CK_TILES)
  return vfrombits(__builtin_convertvector(packed_round(a), vi) | __builtin_convertvector(packed_round(b), vi) << 16);
#else
  (void)b;
  return a;
#endif
}

/* The exponents of scales before panels of packed lines, which float16 operands have. */
CK_INLINE size_t packed_exponents(size_t lines, size_t panel) {
#ifdef CK_HALF
  return (lines + panel - 1) / panel * panel;
#else
  (void)lines, (void)panel;
  return 0;
#endif
}

/* Float16 operands are numbers times the factor of their scale. */
CK_INLINE vf packed_scaled(vf numbers, float factor) {
#ifdef CK_HALF
  return numbers * vset(factor);
#else
  (void)factor;
  return numbers;
#endif
}

/* The bits of one number. */
CK_INLINE uint16_t packed_bits(float x, float factor) {
#ifdef CK_HALF
  return half_bits_of(x * factor);
#else
  (void)factor;
  return bfloat_bits(x);
#endif
}

/* A word of `count` numbers, at most numbers_per_unit, that are `step` apart. */
CK_INLINE float packed_gather(const float *from, size_t step, size_t count, float factor) {
#ifdef CK_PAIRS
  uint32_t bits = packed_bits(from[0], factor) | (count > 1 ? (uint32_t)packed_bits(from[step], factor) << 16 : 0);
  float word;
  memcpy(&word, &bits, sizeof word);
  return word;
#else
  (void)step, (void)count, (void)factor;
  return *from;
#endif
}
