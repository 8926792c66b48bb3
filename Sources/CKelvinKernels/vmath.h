/* Functions of every lane, accurate to a few units in the last place. */
#pragma once
#if CK_LANES == 16
#include "Generated/ck_normal_tail.h"
#endif
#include "simd.h"

/* e^r - 1 for |r| <= ln(2)/2: the Taylor polynomial of degree 7, whose next term is below 2^-27. */
CK_INLINE vf vexpm1_small(vf r) {
  vf p = vset(1.0f / 5040);
  p = vmuladd(p, r, vset(1.0f / 720));
  p = vmuladd(p, r, vset(1.0f / 120));
  p = vmuladd(p, r, vset(1.0f / 24));
  p = vmuladd(p, r, vset(1.0f / 6));
  p = vmuladd(p, r, vset(0.5f));
  return vmuladd(p, r * r, r);
}

/* x = k ln 2 + r with integer k and |r| <= ln(2)/2. The upper part of ln 2 has few enough bits for an exact product. */
CK_INLINE vf vreduce_exp(vf x, vf *k) {
  *k = vround_small(x * vset(1.44269504f));
  return vmuladd(*k, vset(-0x1.7f7d1cp-20f), vmuladd(*k, vset(-0x1.62e4p-1f), x));
}

CK_INLINE vf vexp(vf x) {
  vf k, r = vreduce_exp(vatmost(vatleast(x, vset(-104)), vset(89)), &k);
  return vscale(vexpm1_small(r) + 1, k);
}

/* e^x - 1, without cancellation near zero. */
CK_INLINE vf vexpm1(vf x) {
  vf k, r = vreduce_exp(vatmost(vatleast(x, vset(-30)), vset(88)), &k);
  vf scale = vscale(vset(1), k);
  return vmuladd(scale, vexpm1_small(r), scale - 1);
}

/* ln x = e ln 2 + 2 artanh((m - 1) / (m + 1)) with sqrt(1/2) <= m < sqrt(2). */
CK_INLINE vf vlog(vf x) {
  vi tiny = x < vset(0x1p-126f);
  vf scaled = vselect(tiny, x * vset(0x1p23f), x);
  vi shifted = vbits(scaled) - 0x3F3504F3;
  vi e = (shifted >> 23) - (tiny & 23);
  vf m = vfrombits((shifted & 0x7FFFFF) + 0x3F3504F3);
  vf f = m - 1;
  vf s = f / (m + 1);
  vf z = s * s;
  vf p = vset(1.0f / 11);
  p = vmuladd(p, z, vset(1.0f / 9));
  p = vmuladd(p, z, vset(1.0f / 7));
  p = vmuladd(p, z, vset(1.0f / 5));
  p = vmuladd(p, z, vset(1.0f / 3));
  p = vmuladd(p * z, 2 * s, 2 * s);
  vf k = __builtin_convertvector(e, vf);
  vf y = vmuladd(k, vset(0x1.62e4p-1f), vmuladd(k, vset(0x1.7f7d1cp-20f), p));
  y = vselect(x == vset(INFINITY), x, y);
  y = vselect(x == vset(0), vset(-INFINITY), y);
  return vselect((x < vset(0)) | (x != x), vset(NAN), y);
}

/* ln(1 + x) for x >= 0. */
CK_INLINE vf vlog1p(vf x) {
  vf sum = 1 + x;
  return vlog(sum) + (x - (sum - 1)) / sum;
}

/* 1 / (1 + e) with e = e^-|x|, or e / (1 + e) for negative x. */
CK_INLINE vf vsigmoid(vf x) {
  vf e = vexp(-vabs(x));
  return vselect(x < vset(0), e, vset(1)) * vreciprocal(1 + e);
}

/* tanh |x| = u / (u + 2) with u = e^(2|x|) - 1. */
CK_INLINE vf vtanh(vf x) {
  vf u = vexpm1(vatmost(2 * vabs(x), vset(40)));
  vf y = u * vreciprocal(u + 2);
  return vfrombits(vbits(y) | (vbits(x) & INT32_MIN));
}

/* 1 - erf(z) for z >= 0: e^(-z^2) t p(t) with t = 1 / (1 + z/2), p fitted to relative error 2^-27. The square is
 * split so that its rounding error does not enter the exponential; the remainder is below 0.11. */
CK_INLINE vf verfc(vf z) {
  static const float p[] = {
    0x1.20dc06p-2f, 0x1.2101cap-2f, 0x1.f686dap-3f, 0x1.79c5e8p-3f, 0x1.e387cp-5f, 0x1.a0db5ap-6f,
    -0x1.8718fap-8f, -0x1.39ef2ep-2f, 0x1.924d58p-2f, -0x1.90549p-3f, 0x1.2b2d1ap-5f};
  z = vatmost(z, vset(10.3f));
  vf t = vreciprocal(1 + 0.5f * z);
  vf sum = vset(p[sizeof p / sizeof *p - 1]);
  for (size_t i = sizeof p / sizeof *p - 1; i > 0; i--) sum = vmuladd(sum, t, vset(p[i - 1]));
  vf upper = vfrombits(vbits(z) & (int32_t)0xFFFFF000);
  vf k, r = vreduce_exp(-upper * upper, &k);
  return vscale(vexpm1_small(vmuladd(upper - z, upper + z, r)) + 1, k) * (t * sum);
}

/* x p(x^2) for |x| < 1, p fitted to relative error 2^-27; 1 - erfc beyond. */
CK_INLINE vf verf(vf x) {
  static const float p[] = {
    0x1.20dd74p+0f, -0x1.81273ep-2f, 0x1.ce2cfp-4f, -0x1.b7f88cp-6f, 0x1.5401dcp-8f, -0x1.a3dc18p-11f,
    0x1.49234ep-14f};
  vf z = vabs(x), square = x * x;
  vf sum = vset(p[sizeof p / sizeof *p - 1]);
  for (size_t i = sizeof p / sizeof *p - 1; i > 0; i--) sum = vmuladd(sum, square, vset(p[i - 1]));
  vf far = vfrombits(vbits(1 - verfc(z)) | (vbits(x) & INT32_MIN));
  return vselect(z < vset(1), x * sum, vselect(x != x, x, far));
}

/* The tail of the normal distribution above z >= 0. */
CK_INLINE vf vnormal_tail(vf z) {
#if CK_LANES == 16
  // Two registers hold a coefficient of all segments.
  if (!_mm512_cmp_ps_mask((__m512)z, _mm512_set1_ps(normal_tail_limit), _CMP_NLT_UQ)) {
    vf t = z * vset(normal_tail_segments / normal_tail_limit);
    __m512i segment = _mm512_cvttps_epi32((__m512)t);
    vf place = t - (vf)_mm512_cvtepi32_ps(segment), sum = vset(0);
#pragma clang loop unroll(full)
    for (size_t i = normal_tail_degree + 1; i-- > 0;) {
      __m512 low = _mm512_loadu_ps(normal_tail[i]), high = _mm512_loadu_ps(normal_tail[i] + 16);
      sum = vmuladd(sum, place, (vf)_mm512_permutex2var_ps(low, segment, high));
    }
    return sum;
  }
#endif
  return 0.5f * verfc(z * vset(0.70710678f));
}

/* x times the normal distribution function at x. */
CK_INLINE vf vgelu(vf x) {
  vf tail = vnormal_tail(vabs(x));
  return x * vselect(x < vset(0), tail, 1 - tail);
}

CK_INLINE vf vgelu_tanh(vf x) {
  vf u = vset(0.79788456f) * vmuladd(vset(0.044715f) * x * x, x, x);
  return x * vsigmoid(2 * u);
}
