/* bfloat16, as bits. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Zero instead of a denormal. */
static inline float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* The nearest bfloat16, ties to even. */
static inline uint16_t bfloat_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
