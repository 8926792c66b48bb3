/* Numbers of any type as unsigned keys with the same order. */
#pragma once
#include "typed.h"

#include <math.h>
#include <string.h>

/* NaN is above all numbers, and both zeros are equal. */
static inline uint64_t rank_float(float x) {
  if (isnan(x)) return UINT32_MAX;
  uint32_t bits;
  x += 0.0f;
  memcpy(&bits, &x, sizeof bits);
  return bits & 0x80000000 ? (uint32_t)~bits : bits | 0x80000000;
}

static inline uint64_t rank_key(ck_scalar type, const void *x, size_t i) {
  switch (type) {
  case ck_float32: return rank_float(((const float *)x)[i]);
  case ck_uint64: return ((const uint64_t *)x)[i];
  default: return (uint64_t)typed_integer(type, x, i) ^ (uint64_t)1 << 63;
  }
}
