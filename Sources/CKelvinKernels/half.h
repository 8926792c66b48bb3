/* IEEE 754 binary16, as bits. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float half_value(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 0) return copysignf((float)fraction * 0x1p-24f, sign ? -1.0f : 1.0f);
  uint32_t wide = sign | (exponent == 31 ? 0x7F800000 : (exponent + 112) << 23) | fraction << 13;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* The nearest binary16 number, ties to even. */
static inline uint16_t half_bits(double x) {
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x)) return sign | 0x7E00;
  double magnitude = fabs(x);
  if (magnitude >= 65520) return sign | 0x7C00;
  if (magnitude < 0x1p-14) return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
  int exponent;
  double significand = frexp(magnitude, &exponent);
  return sign | (uint16_t)((uint16_t)(exponent + 14) * 1024u + (uint32_t)nearbyint((significand * 2 - 1) * 1024));
}

/* The same of a float32, without slow functions. */
static inline uint16_t half_bits_of(float x) {
  float magnitude = fabsf(x);
  uint32_t bits, sign = signbit(x) ? 0x8000 : 0;
  if (!(magnitude < 65520)) return (uint16_t)(sign | (magnitude > 65519 ? 0x7C00 : 0x7E00));
  /* The addition rounds denormals to multiples of 2^-24. */
  bool is_small = magnitude < 0x1p-14f;
  if (is_small) magnitude += 0.5f;
  memcpy(&bits, &magnitude, sizeof bits);
  if (is_small) return (uint16_t)(sign | (bits - 0x3F000000));
  bits += 0xFFF + (bits >> 13 & 1);
  return (uint16_t)(sign | ((bits >> 13) - (112 << 10)));
}
