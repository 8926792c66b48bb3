/* The products of the unit for tiles, in C. */
#include "bfloat.h"
#include "ck_tiles.h"

/* The number in the lower or the upper half of a word. */
static inline float half_of_word(uint32_t word, bool is_upper) {
  uint32_t bits = is_upper ? word & 0xFFFF0000 : word << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return flushed(x);
}

/* A result is flushed if it is below the least normal number after rounding to 24 digits. `fmaf` rounds such a result
 * to fewer digits, possibly up to the least normal number, so it is computed again for a larger exponent. */
static inline float muladd_again(float a, float b, float sum, float result) {
  if (!(fabsf(result) <= 0x1p-126f) || result == 0) return result;
  bool scales_a = fabsf(a) < fabsf(b);
  float scaled = fmaf(scales_a ? a * 0x1p64f : a, scales_a ? b : b * 0x1p64f, sum * 0x1p64f);
  return fabsf(scaled) < 0x1p-62f ? copysignf(0, result) : result;
}

/* sums += x * b, element by element. The first loop has no branches, so that it is vectorized. */
static inline __attribute__((always_inline)) void muladd_row(float x, const float *b, float *sums) {
  float results[ck_tile_words];
  int tiny = 0;
  for (size_t i = 0; i < ck_tile_words; i++) {
    results[i] = fmaf(x, b[i], sums[i]);
    tiny |= fabsf(results[i]) <= 0x1p-126f;
  }
  if (tiny)
    for (size_t i = 0; i < ck_tile_words; i++) results[i] = muladd_again(x, b[i], sums[i], results[i]);
  memcpy(sums, results, sizeof results);
}

static inline __attribute__((always_inline)) void multiply(
  float sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]) {
  /* The numbers of even and of odd depths. */
  float numbers[2][ck_tile_words][ck_tile_words];
  for (size_t odd = 0; odd < 2; odd++)
    for (size_t k = 0; k < ck_tile_words; k++)
      for (size_t i = 0; i < ck_tile_words; i++) numbers[odd][k][i] = half_of_word(b[k][i], odd);
  for (size_t row = 0; row < ck_tile_rows; row++) {
    float parts[2][ck_tile_words] = {0};
    for (size_t odd = 0; odd < 2; odd++)
      for (size_t k = 0; k < ck_tile_words; k++)
        muladd_row(half_of_word(a[row][k], odd), numbers[odd][k], parts[odd]);
    for (size_t i = 0; i < ck_tile_words; i++)
      sums[row][i] = flushed(flushed(sums[row][i]) + flushed(parts[0][i] + parts[1][i]));
  }
}

#if defined(__x86_64__)
/* Without the instruction, `fmaf` is a call of the C library. */
static __attribute__((target("avx2,fma"))) void multiply_by_fma(
  float sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]) {
  multiply(sums, a, b);
}
#endif

void ck_emulate_tile_product(
  float sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    multiply_by_fma(sums, a, b);
    return;
  }
#endif
  multiply(sums, a, b);
}

void ck_emulate_integer_tile_product(
  uint32_t sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]) {
  for (size_t row = 0; row < ck_tile_rows; row++)
    for (size_t k = 0; k < ck_tile_words; k++)
      for (size_t bit = 0; bit < 32; bit += 8) {
        uint32_t x = a[row][k] >> bit & 0xFF;
        for (size_t i = 0; i < ck_tile_words; i++) sums[row][i] += x * (uint32_t)(int8_t)(b[k][i] >> bit);
      }
}
