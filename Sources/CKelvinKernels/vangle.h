/* Sines, cosines and their inverses of every lane, accurate to a few units in the last place. The polynomials are
 * fitted to relative errors below 2^-26. */
#pragma once
#include "vmath.h"

CK_INLINE vf vpolynomial(vf x, const float *p, const size_t count) {
  vf sum = vset(p[count - 1]);
#pragma clang loop unroll(full)
  for (size_t i = count - 1; i > 0; i--) sum = vmuladd(sum, x, vset(p[i - 1]));
  return sum;
}

/* Beyond this magnitude, products with the parts of pi / 2 are not exact, and each lane is computed alone. */
#define CK_ANGLE_LIMIT 8192

CK_INLINE bool vangles_are_small(vf x) { return __builtin_reduce_and(vabs(x) <= vset(CK_ANGLE_LIMIT)) != 0; }

/* The sine of x + turns * pi / 2, for small angles. */
CK_INLINE vf vsine(vf x, const int32_t turns) {
  static const float sine[] = {-0x1.555556p-3f, 0x1.111106p-7f, -0x1.a00e8ep-13f, 0x1.6ca36cp-19f};
  static const float cosine[] = {-0.5f, 0x1.555538p-5f, -0x1.6c0698p-10f, 0x1.98d53ap-16f};
  vf k = vround_small(x * vset(0x1.45f306p-1f));
  vf r = vmuladd(k, vset(-0x1.92p+0f), x);
  r = vmuladd(k, vset(-0x1.fb4p-12f), r);
  r = vmuladd(k, vset(-0x1.444p-24f), r);
  r = vmuladd(k, vset(-0x1.68c234p-39f), r);
  vi quadrant = __builtin_convertvector(k, vi) + turns;
  vf square = r * r;
  vf even = r * vmuladd(square, vpolynomial(square, sine, 4), vset(1));
  vf odd = vmuladd(square, vpolynomial(square, cosine, 4), vset(1));
  vf y = vselect((quadrant & 1) != 0, odd, even);
  return vfrombits(vbits(y) ^ (quadrant & 2) << 30);
}

CK_INLINE vf vsin(vf x) {
  if (vangles_are_small(x)) return vsine(x, 0);
  vf y = x;
  for (size_t lane = 0; lane < CK_LANES; lane++) y[lane] = sinf(x[lane]);
  return y;
}

CK_INLINE vf vcos(vf x) {
  if (vangles_are_small(x)) return vsine(x, 1);
  vf y = x;
  for (size_t lane = 0; lane < CK_LANES; lane++) y[lane] = cosf(x[lane]);
  return y;
}

CK_INLINE vf vsigned_as(vf magnitude, vf x) { return vfrombits(vbits(magnitude) | (vbits(x) & INT32_MIN)); }

/* The angle is reduced to that of t with |t| <= tan(pi / 8), from 0, pi / 4 or pi / 2. */
CK_INLINE vf vatan(vf x) {
  static const float p[] = {-0x1.555544p-2f, 0x1.998feap-3f, -0x1.239cb8p-3f, 0x1.b0b87ep-4f, -0x1.ec7774p-5f};
  vf a = vabs(x);
  vi is_far = a > vset(2.41421356f), is_middle = a > vset(0.41421356f);
  vf t = vselect(is_far, vset(-1), vselect(is_middle, a - 1, a)) / vselect(is_far, a, vselect(is_middle, a + 1, vset(1)));
  vf from = vselect(is_far, vset(0x1.921fb6p+0f), vselect(is_middle, vset(0x1.921fb6p-1f), vset(0)));
  vf square = t * t;
  return vsigned_as(from + vmuladd(t * square, vpolynomial(square, p, 5), t), x);
}

/* asin s for the square of s, up to 1/4. */
CK_INLINE vf vasin_small(vf s, vf square) {
  static const float p[] = {0x1.5555fcp-3f, 0x1.32f8d8p-4f, 0x1.7525aap-5f, 0x1.86e46cp-6f, 0x1.5d456ap-5f};
  return vmuladd(s * square, vpolynomial(square, p, 5), s);
}

/* asin a = pi / 2 - 2 asin(sqrt((1 - a) / 2)) from 1/2 on. */
CK_INLINE vf vasin(vf x) {
  vf a = vabs(x);
  vi is_far = a > vset(0.5f);
  vf square = vselect(is_far, 0.5f * (1 - a), a * a);
  vf s = vselect(is_far, __builtin_elementwise_sqrt(square), a);
  vf y = vasin_small(s, square);
  return vsigned_as(vselect(is_far, vmuladd(y, vset(-2), vset(0x1.921fb6p+0f)), y), x);
}

CK_INLINE vf vacos(vf x) {
  vf a = vabs(x);
  vi is_far = a > vset(0.5f), is_negative = x < vset(0);
  vf square = vselect(is_far, 0.5f * (1 - a), a * a);
  vf y = vasin_small(vselect(is_far, __builtin_elementwise_sqrt(square), x), square);
  vf far = vselect(is_negative, vmuladd(y, vset(-2), vset(0x1.921fb6p+1f)), 2 * y);
  return vselect(is_far, far, vset(0x1.921fb6p+0f) - y);
}
