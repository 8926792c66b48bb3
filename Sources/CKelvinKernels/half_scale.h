/* Scales of float16 operands: powers of two, so that neither operands nor short sums of products leave the range, and
 * that small numbers keep their digits. */
#pragma once
#include "ck_kernels.h"
#include "half.h"
#include <float.h>

/* The exponent of the scale of numbers whose largest finite magnitude is given. Numbers divided by the scale are below
 * 2^4, and 16 products of such numbers below 2^12. */
static inline float half_exponent(float largest) {
  int exponent = largest > 0 ? ilogbf(largest) - 3 : 0;
  return (float)(exponent < -126 ? -126 : exponent);
}

/* The factor that divides by the scale. */
static inline float half_factor(float exponent) { return ldexpf(1, -(int)exponent); }

/* The larger of a magnitude and that of x, if x is finite. */
static inline float half_larger(float largest, float x) {
  float magnitude = fabsf(x);
  return magnitude > largest && magnitude <= FLT_MAX ? magnitude : largest;
}
