#pragma once
#include <stddef.h>
#include <stdint.h>

/// Bilinear samples of an image of luma and of pairs of blue and red chroma. The arithmetic is in integers, so results
/// are the same on all processors.

/// The conversion to red, green and blue, in units of 1/8192. The first three are the constant terms, with the half for
/// rounding.
typedef struct {
  int32_t red, green, blue;
  int16_t luma, red_of_red, green_of_red, green_of_blue, blue_of_blue;
} kelvin_chroma_matrix;

/// The offsets in bytes of two neighbouring pixels in each plane.
typedef struct {
  ptrdiff_t luma_near, luma_far, chroma_near, chroma_far;
} kelvin_chroma_tap;

/// Converts the pixels at `count` taps, rounds them to 8 bits, and interpolates between the two of each tap. Writes
/// `count` red, then green, then blue values in units of 1/16384.
///
/// `luma` and `chroma` are the addresses from which the offsets count. A weight is that of the far pixel, in units of
/// 1/16384.
void kelvin_chroma_line(
  const uint8_t *luma, const uint8_t *chroma, kelvin_chroma_matrix matrix, const kelvin_chroma_tap *taps,
  const int16_t *weights, size_t count, int32_t *line);

/// Interpolates between `count` values of two lines, rounded half up. `weight` is that of `far` in units of 1/16384.
void kelvin_chroma_between(const int32_t *near, const int32_t *far, int16_t weight, size_t count, uint8_t *samples);
