/* The operands of products as 32-bit words. A word is a float32. If the including file defines CK_BFLOAT, it is two
 * numbers that are neighbours along the depth, rounded to bfloat16, whose products are added in float32. The last
 * word of an odd depth is padded with a zero. If it defines CK_TILES, words are the same, but the depth is padded to
 * whole tiles. Memory of words is typed as floats. */
#pragma once
#include "bfloat.h"
#include "ck_kernels.h"
#include "simd.h"

#if defined(CK_BFLOAT) || defined(CK_TILES)
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

/* sum + a * b, of the one or two numbers in each word. */
CK_INLINE vf packed_muladd(vf a, vf b, vf sum) {
#ifdef CK_BFLOAT
  return (vf)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
  return vmuladd(a, b, sum);
#endif
}

CK_INLINE void packed_store(float *to, vf numbers) {
#ifdef CK_BFLOAT
  __m256bh words = _mm512_cvtneps_pbh((__m512)numbers);
  memcpy(to, &words, sizeof words);
#else
  vstore(to, numbers);
#endif
}

/* Loads CK_LANES numbers, of which `mask` selects those that are not padding. Padding may have any value if each
 * number has its own word, because products do not read it. */
CK_INLINE vf packed_load_numbers(const float *from, vmask mask) {
#ifdef CK_BFLOAT
  return vload_masked(from, mask);
#else
  (void)mask;
  return vload(from);
#endif
}

/* The number at that position in each word. */
CK_INLINE vf packed_numbers(vf words, size_t place) {
#if defined(CK_BFLOAT) || defined(CK_TILES)
  return vfrombits(place ? vbits(words) & ~0xFFFF : vbits(words) << 16);
#else
  (void)place;
  return words;
#endif
}

/* Words whose numbers are `a` and, if words have two numbers, `b`. Rounding makes zeros of denormals. */
CK_INLINE vf packed_join(vf a, vf b) {
#if defined(CK_TILES) && CK_LANES != 16
  vi words = 0;
  for (size_t lane = 0; lane < CK_LANES; lane++)
    words[lane] = (int32_t)(bfloat_bits(flushed(a[lane])) | (uint32_t)bfloat_bits(flushed(b[lane])) << 16);
  return vfrombits(words);
#elif defined(CK_BFLOAT) || defined(CK_TILES)
  __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)a));
  __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)b));
  return (vf)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
#else
  (void)b;
  return a;
#endif
}

/* A word of `count` numbers, at most numbers_per_unit, that are `step` apart. */
CK_INLINE float packed_gather(const float *from, size_t step, size_t count) {
#ifdef CK_BFLOAT
  uint32_t bits = bfloat_bits(from[0]) | (count > 1 ? (uint32_t)bfloat_bits(from[step]) << 16 : 0);
  float word;
  memcpy(&word, &bits, sizeof word);
  return word;
#else
  (void)step, (void)count;
  return *from;
#endif
}
