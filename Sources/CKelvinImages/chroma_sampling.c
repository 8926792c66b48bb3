#include "CKelvinImages.h"

#include <string.h>

/// Factors have at most 15 bits and other operands no sign, so that the compiler multiplies 16-bit numbers.
#define INLINE static inline __attribute__((always_inline))

enum { COLOR_BITS = 13, WEIGHT_BITS = 14, ONE = 1 << WEIGHT_BITS, LOW_BITS = 11, LOW = (1 << LOW_BITS) - 1 };
enum { BLOCK = 32 };

/// The bytes of some pixels, gathered so that vectors can load them. Blue chroma is the low byte of a pair.
typedef struct {
  uint8_t luma[BLOCK];
  uint16_t chroma[BLOCK];
} pixels;

INLINE uint8_t byte(int32_t value) {
  value >>= COLOR_BITS;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

INLINE void convert(const pixels *in, kelvin_chroma_matrix m, uint8_t rgb[3][BLOCK]) {
  for (size_t i = 0; i < BLOCK; i++) {
    int32_t level = in->luma[i] * m.luma, blue = in->chroma[i] & 255, red = in->chroma[i] >> 8;
    rgb[0][i] = byte(m.red + level + m.red_of_red * red);
    rgb[1][i] = byte(m.green + level - m.green_of_red * red - m.green_of_blue * blue);
    rgb[2][i] = byte(m.blue + level + m.blue_of_blue * blue);
  }
}

INLINE void line_in(
  const uint8_t *luma, const uint8_t *chroma, kelvin_chroma_matrix matrix, const kelvin_chroma_tap *taps,
  const int16_t *weights, size_t count, int32_t *line) {
  pixels near = {0}, far = {0};
  uint8_t first[3][BLOCK], second[3][BLOCK];
  for (size_t start = 0; start < count; start += BLOCK) {
    size_t part = count - start < BLOCK ? count - start : BLOCK;
    for (size_t i = 0; i < part; i++) {
      kelvin_chroma_tap tap = taps[start + i];
      near.luma[i] = luma[tap.luma_near];
      far.luma[i] = luma[tap.luma_far];
      memcpy(&near.chroma[i], chroma + tap.chroma_near, 2);
      memcpy(&far.chroma[i], chroma + tap.chroma_far, 2);
    }
    convert(&near, matrix, first);
    convert(&far, matrix, second);
    for (size_t channel = 0; channel < 3; channel++) {
      int32_t *out = line + channel * count + start;
      for (size_t i = 0; i < part; i++) {
        int16_t weight = weights[start + i], other = (int16_t)(ONE - weight);
        out[i] = first[channel][i] * other + second[channel][i] * weight;
      }
    }
  }
}

/// A value has 22 bits and its product with a weight 36, so its low and high bits are multiplied separately.
INLINE void between_in(const int32_t *near, const int32_t *far, int16_t weight, size_t count, uint8_t *samples) {
  int16_t other = (int16_t)(ONE - weight);
  for (size_t i = 0; i < count; i++) {
    int32_t a = near[i], b = far[i];
    int32_t low = (a & LOW) * other + (b & LOW) * weight + (1 << (2 * WEIGHT_BITS - 1));
    int32_t high = (a >> LOW_BITS & LOW) * other + (b >> LOW_BITS & LOW) * weight;
    samples[i] = (uint8_t)((high + (low >> LOW_BITS)) >> (2 * WEIGHT_BITS - LOW_BITS));
  }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static void line_avx2(
  const uint8_t *luma, const uint8_t *chroma, kelvin_chroma_matrix matrix, const kelvin_chroma_tap *taps,
  const int16_t *weights, size_t count, int32_t *line) {
  line_in(luma, chroma, matrix, taps, weights, count, line);
}

AVX2 static void between_avx2(
  const int32_t *near, const int32_t *far, int16_t weight, size_t count, uint8_t *samples) {
  between_in(near, far, weight, count, samples);
}
#endif

void kelvin_chroma_line(
  const uint8_t *luma, const uint8_t *chroma, kelvin_chroma_matrix matrix, const kelvin_chroma_tap *taps,
  const int16_t *weights, size_t count, int32_t *line) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return line_avx2(luma, chroma, matrix, taps, weights, count, line);
#endif
  line_in(luma, chroma, matrix, taps, weights, count, line);
}

void kelvin_chroma_between(const int32_t *near, const int32_t *far, int16_t weight, size_t count, uint8_t *samples) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return between_avx2(near, far, weight, count, samples);
#endif
  between_in(near, far, weight, count, samples);
}
