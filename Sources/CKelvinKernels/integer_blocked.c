#include "ck_quantized.h"

/* Elements are stored signed, four to a word. */
static uint32_t signed_element(uint8_t x, bool is_signed, size_t place) {
  return (uint32_t)(uint8_t)(is_signed ? x : x ^ 0x80) << (8 * place);
}

static int32_t sum_of_elements(uint32_t word) {
  return (int8_t)word + (int8_t)(word >> 8) + (int8_t)(word >> 16) + (int8_t)(word >> 24);
}

static size_t words_of(size_t elements) { return (elements + 3) / 4; }

size_t ck_integer_blocked_count(size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t lanes) {
  size_t rest = in_channels % width, words = in_channels / width * words_of(width) + words_of(rest);
  return (out_channels + lanes - 1) / lanes * lanes * (words * taps + 1);
}

void ck_pack_integer_blocked(
  const uint8_t *w, bool is_signed, size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t lanes,
  uint32_t *packed) {
  size_t blocks = (out_channels + lanes - 1) / lanes;
  for (size_t block = 0; block < blocks; block += 2) {
    size_t count = (blocks - block > 1 ? 2 : 1) * lanes, first = block * lanes;
    uint32_t *sums = packed + ck_integer_blocked_count(count, in_channels, taps, width, lanes) - count;
    for (size_t lane = 0; lane < count; lane++) sums[lane] = 0;
    for (size_t start = 0; start < in_channels; start += width) {
      size_t end = in_channels - start < width ? in_channels : start + width;
      for (size_t tap = 0; tap < taps; tap++)
        for (size_t channel = start; channel < end; channel += 4)
          for (size_t lane = 0; lane < count; lane++) {
            uint32_t word = 0;
            for (size_t i = 0; i < 4 && channel + i < end && first + lane < out_channels; i++)
              word |= signed_element(w[((first + lane) * in_channels + channel + i) * taps + tap], is_signed, i);
            sums[lane] += (uint32_t)sum_of_elements(word);
            *packed++ = word;
          }
    }
    packed += count;
  }
}

void ck_pack_integer_lines(
  const uint8_t *w, bool is_signed, size_t channels, size_t height, size_t width, size_t lanes, uint32_t *packed) {
  size_t words = words_of(height);
  for (size_t first = 0; first < channels; first += lanes) {
    uint32_t *sums = packed + width * words * lanes;
    for (size_t lane = 0; lane < lanes; lane++) sums[lane] = 0;
    for (size_t x = 0; x < width; x++)
      for (size_t y = 0; y < height; y += 4)
        for (size_t lane = 0; lane < lanes; lane++) {
          uint32_t word = 0;
          for (size_t i = 0; i < 4 && y + i < height && first + lane < channels; i++)
            word |= signed_element(w[((first + lane) * height + y + i) * width + x], is_signed, i);
          sums[lane] += (uint32_t)sum_of_elements(word);
          *packed++ = word;
        }
    packed += lanes;
  }
}
