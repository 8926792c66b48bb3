#include "ck_rates.h"
#include "ck_tiles.h"
#include "tile_shape.h"
#include <stddef.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

/* Sums do not depend on each other, so that the latency of an instruction does not count. */
enum { rate_sums = 12, rate_rounds = 6000, rate_repeats = 6 };

/* Defines a function that adds `step` to each sum again and again. Sums and operands stay in registers. */
#define RATE(name, instructions, sum, operand, constraint, step)                           \
  static __attribute__((target(instructions))) void rate_##name(void) {                    \
    sum sums[rate_sums];                                                                   \
    operand a, b;                                                                          \
    memset(sums, 0x3E, sizeof sums);                                                       \
    memset(&a, 0x3E, sizeof a);                                                            \
    memset(&b, 0x3E, sizeof b);                                                            \
    __asm__ volatile("" : "+" constraint(a), "+" constraint(b));                           \
    for (size_t round = 0; round < rate_rounds; round++)                                   \
      _Pragma("clang loop unroll(full)") for (size_t i = 0; i < rate_sums; i++) {          \
        sums[i] = step;                                                                    \
        __asm__ volatile("" : "+" constraint(sums[i]));                                    \
      }                                                                                    \
  }

/* The same for sums of float16, which are added to sums of float32 in memory after every 16 rounds, as products are.
 * `widened` is half of a sum. */
enum { rate_run = 16 };
#define RATE_OF_HALVES(instructions, sum, part, total, constraint, step, widened)          \
  static __attribute__((target(instructions))) void rate_float16(void) {                   \
    sum sums[rate_sums], a, b;                                                             \
    total totals[rate_sums][2];                                                            \
    memset(sums, 0, sizeof sums);                                                          \
    memset(totals, 0, sizeof totals);                                                      \
    memset(&a, 0x3E, sizeof a);                                                            \
    memset(&b, 0x3E, sizeof b);                                                            \
    __asm__ volatile("" : "+" constraint(a), "+" constraint(b));                           \
    for (size_t round = 0; round < rate_rounds; round += rate_run) {                       \
      for (size_t k = 0; k < rate_run; k++)                                                \
        _Pragma("clang loop unroll(full)") for (size_t i = 0; i < rate_sums; i++) {        \
          sums[i] = step;                                                                  \
          __asm__ volatile("" : "+" constraint(sums[i]));                                  \
        }                                                                                  \
      _Pragma("clang loop unroll(full)") for (size_t i = 0; i < rate_sums; i++) {          \
        part parts[2];                                                                     \
        memcpy(parts, &sums[i], sizeof parts);                                             \
        __asm__ volatile("" : "+m"(parts));                                                \
        for (size_t half = 0; half < 2; half++) totals[i][half] = totals[i][half] + widened; \
        memset(&sums[i], 0, sizeof sums[i]);                                               \
      }                                                                                    \
      __asm__ volatile("" : "+m"(totals));                                                 \
    }                                                                                      \
  }

#if defined(__x86_64__)
RATE(fma256, "avx2,fma", __m256, __m256, "x", _mm256_fmadd_ps(a, b, sums[i]))
RATE(fma512, "avx512f", __m512, __m512, "v", _mm512_fmadd_ps(a, b, sums[i]))
RATE(
  bfloat16, "avx512f,avx512bf16", __m512, __m512i, "v", _mm512_dpbf16_ps(sums[i], (__m512bh)a, (__m512bh)b))
RATE_OF_HALVES(
  "avx512f,avx512fp16", __m512i, __m256i, __m512, "v",
  (__m512i)_mm512_fmadd_ph((__m512h)a, (__m512h)b, (__m512h)sums[i]), _mm512_cvtph_ps(parts[half]))
RATE(int8, "avx512f,avx512vnni", __m512i, __m512i, "v", _mm512_dpbusd_epi32(sums[i], a, b))

/* Four sums of tiles, as kernels have them. Random bits: products of equal operands take less time. */
enum { rate_tile_sums = 4, rate_tile_rounds = 1500 };
#define RATE_OF_TILES(name, instructions, multiply)                                            \
  static __attribute__((target("amx-tile," instructions))) void rate_##name(void) {            \
    _Alignas(64) uint32_t words[4][ck_tile_rows * ck_tile_words];                              \
    uint32_t state = 1;                                                                        \
    for (size_t i = 0; i < sizeof words / sizeof **words; i++) {                               \
      state = state * 1664525 + 1013904223;                                                    \
      /* Numbers of bfloat16 around 1. */                                                      \
      words[i / (ck_tile_rows * ck_tile_words)][i % (ck_tile_rows * ck_tile_words)] =          \
        (state & 0x807F807F) | 0x3F003F00;                                                     \
    }                                                                                          \
    _tile_loadconfig(&tile_shape);                                                             \
    _tile_zero(0);                                                                             \
    _tile_zero(1);                                                                             \
    _tile_zero(2);                                                                             \
    _tile_zero(3);                                                                             \
    _tile_loadd(4, words[0], 4 * ck_tile_words);                                               \
    _tile_loadd(5, words[1], 4 * ck_tile_words);                                               \
    _tile_loadd(6, words[2], 4 * ck_tile_words);                                               \
    _tile_loadd(7, words[3], 4 * ck_tile_words);                                               \
    for (size_t round = 0; round < rate_tile_rounds; round++) {                                \
      multiply(0, 4, 6);                                                                       \
      multiply(1, 4, 7);                                                                       \
      multiply(2, 5, 6);                                                                       \
      multiply(3, 5, 7);                                                                       \
    }                                                                                          \
    _tile_release();                                                                           \
  }
RATE_OF_TILES(bfloat16_tiles, "amx-bf16", _tile_dpbf16ps)
RATE_OF_TILES(int8_tiles, "amx-int8", _tile_dpbusd)
#elif defined(__aarch64__)
RATE(fma128, "neon", float32x4_t, float32x4_t, "w", vfmaq_f32(sums[i], a, b))
RATE(
  bfloat16, "bf16", float32x4_t, uint8x16_t, "w",
  vbfdotq_f32(sums[i], vreinterpretq_bf16_u8(a), vreinterpretq_bf16_u8(b)))
RATE_OF_HALVES(
  "fullfp16", float16x8_t, float16x4_t, float32x4_t, "w", vfmaq_f16(sums[i], a, b), vcvt_f32_f16(parts[half]))
RATE(int8, "dotprod", int32x4_t, int8x16_t, "w", vdotq_s32(sums[i], a, b))
#endif

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct {
  void (*run)(void);
  /* Products of one instruction, and its repetitions. */
  double products, count;
} rated_unit;

static rated_unit vectors_of(void (*run)(void), double products) {
  return (rated_unit){run, products, rate_sums * rate_rounds};
}

static void find_units(rated_unit units[ck_units]) {
#if defined(__x86_64__)
  bool avx512 = __builtin_cpu_supports("avx512f");
  if (avx512) units[ck_unit_float32] = vectors_of(rate_fma512, 16);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    units[ck_unit_float32] = vectors_of(rate_fma256, 8);
  if (avx512 && __builtin_cpu_supports("avx512bf16")) units[ck_unit_bfloat16] = vectors_of(rate_bfloat16, 32);
  if (avx512 && __builtin_cpu_supports("avx512fp16")) units[ck_unit_float16] = vectors_of(rate_float16, 32);
  if (avx512 && __builtin_cpu_supports("avx512vnni")) units[ck_unit_int8] = vectors_of(rate_int8, 64);
  if (ck_request_tiles() == ck_tiles_usable) {
    double words = ck_tile_rows * ck_tile_words * ck_tile_words, count = rate_tile_sums * rate_tile_rounds;
    units[ck_unit_bfloat16_tiles] = (rated_unit){rate_bfloat16_tiles, 2 * words, count};
    units[ck_unit_int8_tiles] = (rated_unit){rate_int8_tiles, 4 * words, count};
  }
#elif defined(__aarch64__)
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  units[ck_unit_float32] = vectors_of(rate_fma128, 4);
  if (second & HWCAP2_BF16) units[ck_unit_bfloat16] = vectors_of(rate_bfloat16, 8);
  if (first & HWCAP_ASIMDHP) units[ck_unit_float16] = vectors_of(rate_float16, 8);
  if (first & HWCAP_ASIMDDP) units[ck_unit_int8] = vectors_of(rate_int8, 16);
#else
  (void)units;
#endif
}

void ck_measure_units(double rates[ck_units]) {
  rated_unit units[ck_units] = {0};
  find_units(units);
  memset(rates, 0, ck_units * sizeof *rates);
  /* Units take turns, so that a disturbance slows all of them; the best run of each counts. */
  for (size_t repeat = 0; repeat < rate_repeats; repeat++)
    for (size_t unit = 0; unit < ck_units; unit++) {
      if (!units[unit].run) continue;
      double start = seconds();
      units[unit].run();
      double rate = 2 * units[unit].products * units[unit].count / (seconds() - start);
      if (rate > rates[unit]) rates[unit] = rate;
    }
}
