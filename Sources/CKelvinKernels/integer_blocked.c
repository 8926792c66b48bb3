#include "ck_quantized.h"

/* Up to four elements, `stride` apart, stored signed. */
static uint32_t signed_word(const uint8_t *w, size_t stride, size_t count, bool is_signed) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4 && i < count; i++)
    word |= (uint32_t)(uint8_t)(is_signed ? w[i * stride] : w[i * stride] ^ 0x80) << (8 * i);
  return word;
}

static int32_t sum_of_elements(uint32_t word) {
  return (int8_t)word + (int8_t)(word >> 8) + (int8_t)(word >> 16) + (int8_t)(word >> 24);
}

static size_t packed_of(size_t elements, size_t unit) { return (elements + 4 * unit - 1) / (4 * unit) * unit; }

size_t ck_integer_blocked_count(
  size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t unit, size_t lanes) {
  size_t words = in_channels / width * packed_of(width, unit) + packed_of(in_channels % width, unit);
  return (out_channels + lanes - 1) / lanes * lanes * (words * taps + 1);
}

void ck_pack_integer_blocked(
  const uint8_t *w, bool is_signed, size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t unit,
  size_t lanes, uint32_t *packed) {
  size_t blocks = (out_channels + lanes - 1) / lanes;
  for (size_t block = 0; block < blocks; block += 2) {
    size_t count = (blocks - block > 1 ? 2 : 1) * lanes, first = block * lanes;
    uint32_t *sums = packed + ck_integer_blocked_count(count, in_channels, taps, width, unit, lanes) - count;
    for (size_t lane = 0; lane < count; lane++) sums[lane] = 0;
    for (size_t start = 0; start < in_channels; start += width) {
      size_t end = in_channels - start < width ? in_channels : start + width;
      size_t padded = start + 4 * packed_of(end - start, unit);
      for (size_t tap = 0; tap < taps; tap++)
        for (size_t channel = start; channel < padded; channel += 4)
          for (size_t lane = 0; lane < count; lane++) {
            size_t out = first + lane;
            bool inside = out < out_channels && channel < end;
            const uint8_t *from = w + (inside ? (out * in_channels + channel) * taps + tap : 0);
            uint32_t word = inside ? signed_word(from, taps, end - channel, is_signed) : 0;
            sums[lane] += (uint32_t)sum_of_elements(word);
            *packed++ = word;
          }
    }
    packed += count;
  }
}

void ck_pack_integer_lines(
  const uint8_t *w, bool is_signed, size_t channels, size_t height, size_t width, size_t lanes, uint32_t *packed) {
  size_t words = packed_of(height, 1);
  for (size_t first = 0; first < channels; first += lanes) {
    uint32_t *sums = packed + width * words * lanes;
    for (size_t lane = 0; lane < lanes; lane++) sums[lane] = 0;
    for (size_t x = 0; x < width; x++)
      for (size_t y = 0; y < height; y += 4)
        for (size_t lane = 0; lane < lanes; lane++) {
          size_t channel = first + lane;
          uint32_t word =
            channel < channels ? signed_word(w + (channel * height + y) * width + x, width, height - y, is_signed) : 0;
          sums[lane] += (uint32_t)sum_of_elements(word);
          *packed++ = word;
        }
    packed += lanes;
  }
}
