/* Words of packed integers and their products. A word is four 8-bit elements if the instruction set multiplies those
 * (CK_INTEGER_GROUP 4), otherwise two elements of 16 bits. AVX-512 multiplies unsigned elements by signed ones, NEON
 * signed by signed. */
#pragma once
#include "ck_quantized.h"
#include "simd.h"

typedef uint32_t vw __attribute__((ext_vector_type(CK_LANES)));
typedef uint8_t vb __attribute__((ext_vector_type(CK_LANES)));
typedef int8_t vsb __attribute__((ext_vector_type(CK_LANES)));
typedef uint16_t vh __attribute__((ext_vector_type(CK_LANES)));

CK_INLINE size_t integer_min(size_t a, size_t b) { return a < b ? a : b; }

CK_INLINE vw wload(const void *p) {
  vw r;
  memcpy(&r, p, sizeof r);
  return r;
}

CK_INLINE void wstore(void *p, vw x) { memcpy(p, &x, sizeof x); }

#if defined(CK_NEON)
/* The first of each pair, then the second. */
CK_INLINE int16x8_t wpairs(vw x) {
  int16x8_t pairs = (int16x8_t)x;
  return __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 1, 3, 5, 7);
}
#endif

/* Adds the products of 16-bit pairs to `sum`. */
CK_INLINE vw wdot_pairs(vw sum, vw a, vw b) {
#if defined(CK_NEON)
  int16x8_t x = wpairs(a), y = wpairs(b);
  return (vw)vmlal_high_s16(vmlal_s16((int32x4_t)sum, vget_low_s16(x), vget_low_s16(y)), x, y);
#elif CK_INTEGER_GROUP == 4 && CK_LANES == 16
  return (vw)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif CK_LANES == 16
  return sum + (vw)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif CK_LANES == 8
  return sum + (vw)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
  vi a_low = (vi)(a << 16) >> 16, b_low = (vi)(b << 16) >> 16;
  return sum + (vw)(a_low * b_low) + (vw)(((vi)a >> 16) * ((vi)b >> 16));
#endif
}

/* Whether elements of words that are declared unsigned are stored unsigned. */
CK_INLINE bool integer_stored_unsigned(bool is_unsigned) {
#if defined(CK_NEON)
  (void)is_unsigned;
  return false;
#else
  return is_unsigned;
#endif
}

/* Adds the products of the elements of words to `sum`; for 8-bit elements one factor is unsigned and the other
 * signed. */
CK_INLINE vw wdot(vw sum, vw unsigned_factor, vw signed_factor) {
#if CK_INTEGER_GROUP == 4 && defined(CK_NEON)
  return (vw)vdotq_s32((int32x4_t)sum, (int8x16_t)unsigned_factor, (int8x16_t)signed_factor);
#elif CK_INTEGER_GROUP == 4 && CK_LANES == 16
  return (vw)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)unsigned_factor, (__m512i)signed_factor);
#elif CK_INTEGER_GROUP == 4
  for (uint32_t bit = 0; bit < 32; bit += 8)
    sum += ((unsigned_factor >> bit) & 0xFF) * (vw)((vi)(signed_factor << (24 - bit)) >> 24);
  return sum;
#else
  return wdot_pairs(sum, unsigned_factor, signed_factor);
#endif
}

/* The same with word `i` of the ck_integer_rows at `words`, which is a lane of one of two loaded vectors. */
#if defined(CK_NEON)
CK_INLINE vw wdot_row(vw sum, vw x, const uint32_t *words, size_t i) {
  vw row = wload(words + (i < 4 ? 0 : 2));
  size_t lane = i < 4 ? i : i - 2;
#if CK_INTEGER_GROUP == 4
  return wdot(sum, x, (vw)row[lane]);
#else
  int16x8_t pairs = wpairs(x), word = (int16x8_t)row;
  int32x4_t low = vmlal_s16((int32x4_t)sum, vget_low_s16(pairs), vdup_n_s16(word[2 * lane]));
  return (vw)vmlal_high_s16(low, pairs, vdupq_n_s16(word[2 * lane + 1]));
#endif
}
#endif

/* A word of ones. */
#if CK_INTEGER_GROUP == 4
#define CK_INTEGER_ONES 0x01010101u
#else
#define CK_INTEGER_ONES 0x00010001u
#endif

/* The number added to an element when it is stored as `is_unsigned` requires. */
CK_INLINE int32_t integer_shift(bool is_signed, bool is_unsigned) {
#if CK_INTEGER_GROUP == 4
  return is_signed == integer_stored_unsigned(is_unsigned) ? (is_signed ? 128 : -128) : 0;
#else
  (void)is_signed;
  (void)is_unsigned;
  return 0;
#endif
}

CK_INLINE int32_t integer_value(const uint8_t *p, bool is_signed) { return is_signed ? (int8_t)*p : *p; }

/* A word of up to `count` elements, `stride` bytes apart. */
CK_INLINE uint32_t integer_word(const uint8_t *p, size_t stride, size_t count, bool is_signed, bool is_unsigned) {
  uint32_t word = 0;
#if CK_INTEGER_GROUP == 4
  uint32_t flip = integer_shift(is_signed, is_unsigned) ? 0x80 : 0;
  for (size_t i = 0; i < count; i++) word |= (p[i * stride] ^ flip) << (8 * i);
#else
  (void)is_unsigned;
  for (size_t i = 0; i < count; i++) word |= (uint32_t)(uint16_t)integer_value(p + i * stride, is_signed) << (16 * i);
#endif
  return word;
}

/* The sum of a word's elements. */
CK_INLINE int32_t integer_word_sum(uint32_t word, bool is_unsigned) {
#if CK_INTEGER_GROUP == 4
  bool counts_up = integer_stored_unsigned(is_unsigned);
  int32_t sum = 0;
  for (size_t i = 0; i < 32; i += 8) sum += counts_up ? (uint8_t)(word >> i) : (int8_t)(word >> i);
  return sum;
#else
  (void)is_unsigned;
  return (int16_t)word + (int16_t)(word >> 16);
#endif
}

/* Rounds to the nearest integer, ties to even, for |x| < 2^22. */
CK_INLINE vi vround_integer(vf x) { return vbits(x + vset(0x1.8p23f)) - vbits(vset(0x1.8p23f)); }

/* The parameters for the requantization of one row's sums. */
typedef struct {
  float lower, upper;
  int32_t zero;
} integer_bounds;

CK_INLINE integer_bounds integer_bounds_of(const ck_requantization *o) {
  if (o->type == ck_int32 || o->type == ck_float32) return (integer_bounds){0};
  int32_t zero = integer_value(o->zero, o->type == ck_int8);
  return (integer_bounds){(float)(o->lower - zero), (float)(o->upper - zero), zero};
}

CK_INLINE vw integer_requantize(vw sum, vf scale, integer_bounds b) {
  vf x = __builtin_convertvector((vi)sum, vf) * scale;
  x = vatmost(vatleast(x, vset(b.lower)), vset(b.upper));
  return (vw)(vround_integer(x) + b.zero);
}

/* Stores the low byte of each of the first `n` lanes. */
CK_INLINE void wstore_bytes(uint8_t *p, vw x, size_t n) {
#if CK_LANES == 16
  _mm_mask_storeu_epi8(p, (__mmask16)((1u << n) - 1), _mm512_cvtepi32_epi8((__m512i)x));
#else
  vb bytes = __builtin_convertvector(x, vb);
  if (n == CK_LANES) {
    memcpy(p, &bytes, CK_LANES);
  } else {
    uint8_t all[CK_LANES];
    memcpy(all, &bytes, CK_LANES);
    for (size_t i = 0; i < n; i++) p[i] = all[i];
  }
#endif
}

/* Stores the low bytes of two words' lanes interleaved: `even[0], odd[0], even[1], …`, the first `n` of them. */
CK_INLINE void wstore_byte_pairs(uint8_t *p, vw even, vw odd, size_t n) {
  vh halves = __builtin_convertvector((even & 0xFF) | ((odd & 0xFF) << 8), vh);
#if CK_LANES == 16
  _mm256_mask_storeu_epi8(p, (__mmask32)((1ull << n) - 1), (__m256i)halves);
#else
  if (n == 2 * CK_LANES) {
    memcpy(p, &halves, 2 * CK_LANES);
  } else {
    uint8_t all[2 * CK_LANES];
    memcpy(all, &halves, 2 * CK_LANES);
    for (size_t i = 0; i < n; i++) p[i] = all[i];
  }
#endif
}
