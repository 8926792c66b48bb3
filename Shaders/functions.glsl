// The functions of one element, and below what they are made of; the list is dev/elementwise/unary.toml.
// Exponentials, logarithms and trigonometric functions are computed here: Vulkan's own are too inexact. Argument
// reduction is `precise`; otherwise a compiler may merge the two parts of a constant.

#include "Generated/numbers.glsl"
#include "special.glsl"

// 2^n e^r by the Taylor polynomial of e^r to r^7, |r| <= ln 2 / 2.
float scaledExponential(float n, float r) {
  float p = fma(r, 1.0 / 5040.0, 1.0 / 720.0);
  p = fma(p, r, 1.0 / 120.0);
  p = fma(p, r, 1.0 / 24.0);
  p = fma(p, r, 1.0 / 6.0);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  int e = int(n);
  int low = e >> 1;
  return p * intBitsToFloat((low + 127) << 23) * intBitsToFloat((e - low + 127) << 23);
}

// e^(x + low) by x = n ln 2 + r, low being far less than x.
float exponential(float x, float low) {
  float clamped = min(max(x, -104.0), 89.0);
  float n = roundEven(clamped * 1.44269504);
  precise float r = clamped - n * 0.693145752;
  r = r + (low - n * 1.42860677e-6);
  float y = scaledExponential(n, r);
  return isUnordered(x) ? x : y;
}

float exponential(float x) { return exponential(x, 0.0); }

// 2^x
float powerOfTwo(float x) {
  float clamped = min(max(x, -150.0), 129.0);
  float n = roundEven(clamped);
  float y = scaledExponential(n, (clamped - n) * 0.693147181);
  return isUnordered(x) ? x : y;
}

// x / y. If the reciprocal of y is a denormal, a driver may return 0 (NVIDIA's do; Vulkan requires exactness only for
// |y| up to 2^126), so for larger |y| both operands are divided by four first.
float ratio(float x, float y) {
  precise float scale = abs(y) > 8.5070592e37 ? 0.25 : 1.0;
  precise float quotient = (x * scale) / (y * scale);
  return quotient;
}

vec4 ratio(vec4 x, vec4 y) { return vec4(ratio(x.x, y.x), ratio(x.y, y.y), ratio(x.z, y.z), ratio(x.w, y.w)); }

// x = 2^e m with m in [sqrt 1/2, sqrt 2), of which ln m is a series in s = (m - 1) / (m + 1).
struct Parts { float e, m, s; };

Parts partsOf(float x) {
  bool tiny = x < 1.17549435e-38;
  int bits = floatBitsToInt(tiny ? x * 8388608.0 : x);
  int e = ((bits - 0x3F3504F3) >> 23);
  float m = intBitsToFloat(bits - (e << 23));
  return Parts(float(tiny ? e - 23 : e), m, (m - 1.0) / (m + 1.0));
}

// ln m - 2 s
float restOfLogarithm(float s) {
  float s2 = s * s;
  float p = fma(s2, 2.0 / 9.0, 2.0 / 7.0);
  p = fma(p, s2, 2.0 / 5.0);
  p = fma(p, s2, 2.0 / 3.0);
  return p * s2 * s;
}

float logarithm(float x) {
  Parts parts = partsOf(x);
  precise float low = parts.e * 1.42860677e-6 + (restOfLogarithm(parts.s) + 2.0 * parts.s);
  precise float y = parts.e * 0.693145752 + low;
  if (x == 0.0) y = -infinity();
  if (x < 0.0) y = notANumber();
  if (x == infinity()) y = x;
  return isUnordered(x) ? x : y;
}

// x with the upper half of its significand alone: products of two such are exact.
float upperHalf(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xFFFFF000u); }

// ln x for x >= 0 as a sum of two numbers, the first of which is ln x rounded.
vec2 logarithmInTwo(float x) {
  if (x == 0.0 || !isFinite(x)) return vec2(logarithm(x), 0.0);
  Parts parts = partsOf(x);
  // The error of s: m - 1 is exact, m + 1 and the quotient are not. The product of s and m + 1 in halves is exact.
  float m = parts.m, s = parts.s;
  precise float sum = m + 1.0;
  precise float lost = m - (sum - 1.0);
  float sUpper = upperHalf(s), sumUpper = upperHalf(sum);
  precise float sLower = s - sUpper, sumLower = sum - sumUpper;
  precise float rest = (m - 1.0) - sUpper * sumUpper;
  rest = ((rest - sUpper * sumLower) - sLower * sumUpper) - sLower * sumLower - s * lost;
  precise float large = parts.e * 0.693145752, twice = 2.0 * s;
  precise float high = large + twice;
  precise float low = (large == 0.0 ? 0.0 : twice - (high - large)) + 2.0 * rest / sum;
  low = low + (restOfLogarithm(s) + parts.e * 1.42860677e-6);
  precise float total = high + low;
  precise float left = low - (total - high);
  return vec2(total, left);
}

// 1 - erf(z) for z >= 0, relative error below 1.2e-7 (a Chebyshev fit in 1 / (1 + z / 2)).
float complementaryError(float z) {
  float t = 1.0 / fma(0.5, z, 1.0);
  float p = fma(t, 0.17087277, -0.82215223);
  p = fma(p, t, 1.48851587);
  p = fma(p, t, -1.13520398);
  p = fma(p, t, 0.27886807);
  p = fma(p, t, -0.18628806);
  p = fma(p, t, 0.09678418);
  p = fma(p, t, 0.37409196);
  p = fma(p, t, 1.00002368);
  p = fma(p, t, -1.26551223);
  float square = z * z;
  return t * exponential(p - square);
}

float errorFunction(float x) {
  float z = abs(x);
  float q = x * x;
  float p = fma(q, -1.0 / 75600.0, 1.0 / 9360.0);
  p = fma(p, q, -1.0 / 1320.0);
  p = fma(p, q, 1.0 / 216.0);
  p = fma(p, q, -1.0 / 42.0);
  p = fma(p, q, 1.0 / 10.0);
  p = fma(p, q, -1.0 / 3.0);
  float small = 1.12837917 * fma(p * q, x, x);
  float large = 1.0 - complementaryError(z);
  return z < 0.75 ? small : (x < 0.0 ? -large : large);
}

float hyperbolicTangent(float x) {
  float z = abs(x);
  float q = x * x;
  float p = fma(q, 21844.0 / 6081075.0, -1382.0 / 155925.0);
  p = fma(p, q, 62.0 / 2835.0);
  p = fma(p, q, -17.0 / 315.0);
  p = fma(p, q, 2.0 / 15.0);
  p = fma(p, q, -1.0 / 3.0);
  float small = fma(p * q, x, x);
  float large = 1.0 - 2.0 / (exponential(2.0 * z) + 1.0);
  return isUnordered(x) ? x : (z < 0.4 ? small : (x < 0.0 ? -large : large));
}

// e^x - 1
float exponentialMinusOne(float x) {
  float p = fma(x, 1.0 / 5040.0, 1.0 / 720.0);
  p = fma(p, x, 1.0 / 120.0);
  p = fma(p, x, 1.0 / 24.0);
  p = fma(p, x, 1.0 / 6.0);
  p = fma(p, x, 0.5);
  float small = fma(p * x, x, x);
  return abs(x) < 0.35 ? small : exponential(x) - 1.0;
}

// ln(1 + x) for x >= 0
float logarithmOfOnePlus(float x) {
  precise float y = 1.0 + x;
  precise float rounded = y - 1.0;
  return y == 1.0 || y == infinity() ? x : logarithm(y) * (x / rounded);
}

// The first bits of 2 / pi, after 32 zeros.
const uint TWO_OVER_PI[8] = uint[8](
  0u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu);

// |x| in quarter turns for 2^13 <= |x|, the whole ones in `k`: the product of its significand with the bits of 2 / pi
// that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
float quarterTurns(float x, out int k) {
  uint bits = floatBitsToUint(x);
  uint significand = (bits & 0x7FFFFFu) | 0x800000u;
  // Two places before the point stay: the others are full turns.
  int place = int((bits >> 23) & 255u) - 150 + 30;
  int word = place >> 5, shift = place & 31;
  uint part[3];
  for (int i = 0; i < 3; i++) {
    uint next = shift == 0 ? 0u : TWO_OVER_PI[word + i + 1] >> uint(32 - shift);
    part[i] = TWO_OVER_PI[word + i] << uint(shift) | next;
  }
  uint high, low, top, rest, carry;
  umulExtended(significand, part[1], high, low);
  umulExtended(significand, part[2], top, rest);
  rest = uaddCarry(low, top, carry);
  top = significand * part[0] + high + carry;
  k = int((top + 0x20000000u) >> 30);
  return float(int(top - (uint(k) << 30))) * 9.31322575e-10 + float(rest) * 2.16840434e-19;
}

// sin(x + quarter * pi / 2) by reduction to |r| <= pi / 4.
float sine(float x, int quarter) {
  float n = roundEven(x * 0.636619772);
  precise float r = x - n * 1.5703125;
  r = r - n * 4.83751297e-4;
  r = r - n * 7.54978995e-8;
  int k = int(n);
  bool far = abs(x) >= 8192.0;
  if (far) {
    r = quarterTurns(x, k) * 1.57079633;
    if (x < 0.0) {
      r = -r;
      k = -k;
    }
  }
  float q = r * r;
  float s = fma(q, 2.75573192e-6, -1.98412698e-4);
  s = fma(s, q, 8.33333333e-3);
  s = fma(s, q, -0.166666667);
  s = fma(s * q, r, r);
  float c = fma(q, 2.48015873e-5, -1.38888889e-3);
  c = fma(c, q, 4.16666667e-2);
  c = fma(c, q, -0.5);
  c = fma(c, q, 1.0);
  k = (k + quarter) & 3;
  float y = (k & 1) == 0 ? s : c;
  return isFinite(x) ? ((k & 2) == 0 ? y : -y) : notANumber();
}

// The arc tangent by reduction to |x| <= tan(pi / 8) and a polynomial fit of atan(x) / x there.
float arcTangent(float x) {
  float z = abs(x);
  float start = z > 2.41421356 ? 1.57079633 : (z > 0.414213562 ? 0.785398163 : 0.0);
  float t = z > 2.41421356 ? -1.0 / z : (z > 0.414213562 ? (z - 1.0) / (z + 1.0) : z);
  float q = t * t;
  float p = fma(q, -0.0603478661, 0.105734782);
  p = fma(p, q, -0.142400828);
  p = fma(p, q, 0.199982169);
  p = fma(p, q, -0.333333076);
  float y = start + fma(p * q, t, t);
  return x < 0.0 ? -y : y;
}

// asin x for |x| <= 1/2, by a polynomial fit of asin(x) / x.
float smallArcSine(float x) {
  float q = x * x;
  float p = fma(q, 0.0426355676, 0.0238582161);
  p = fma(p, q, 0.0455501751);
  p = fma(p, q, 0.0749443485);
  p = fma(p, q, 0.166667901);
  return fma(p * q, x, x);
}

// Beyond 1/2 by asin x = pi / 2 - 2 asin sqrt((1 - x) / 2).
float arcSine(float x) {
  float z = abs(x);
  float y = z <= 0.5 ? smallArcSine(z) : 1.57079633 - 2.0 * smallArcSine(sqrt(0.5 * (1.0 - z)));
  return isUnordered(x) || z > 1.0 ? notANumber() : (x < 0.0 ? -y : y);
}

float arcCosine(float x) {
  float z = abs(x);
  float near = 2.0 * smallArcSine(sqrt(0.5 * (1.0 - min(z, 1.0))));
  float y = z <= 0.5 ? 1.57079633 - smallArcSine(x) : (x < 0.0 ? 3.14159265 - near : near);
  return isUnordered(x) || z > 1.0 ? notANumber() : y;
}

// e^z / 2, which overflows as late as sinh z and cosh z do.
float halfExponential(float z) {
  float root = exponential(0.5 * z);
  return 0.5 * root * root;
}

float hyperbolicSine(float x) {
  float z = abs(x);
  float q = x * x;
  float p = fma(q, 1.0 / 362880.0, 1.0 / 5040.0);
  p = fma(p, q, 1.0 / 120.0);
  p = fma(p, q, 1.0 / 6.0);
  float small = fma(p * q, x, x);
  float e = halfExponential(z);
  float large = e - 0.25 / e;
  return z < 1.0 ? small : (x < 0.0 ? -large : (isUnordered(x) ? x : large));
}

float hyperbolicCosine(float x) {
  float e = halfExponential(abs(x));
  return e + 0.25 / e;
}

float areaSine(float x) {
  float z = abs(x);
  float y = z < 1.0e9 ? logarithmOfOnePlus(z + z * z / (1.0 + sqrt(fma(z, z, 1.0)))) : logarithm(z) + 0.693147181;
  return x < 0.0 ? -y : y;
}

float areaCosine(float x) {
  float t = x - 1.0;
  float y = x < 1.0e9 ? logarithmOfOnePlus(t + sqrt(t * (t + 2.0))) : logarithm(x) + 0.693147181;
  return x < 1.0 ? notANumber() : y;
}

float areaTangent(float x) {
  float z = abs(x);
  float y = 0.5 * logarithmOfOnePlus(2.0 * z / (1.0 - z));
  return z > 1.0 ? notANumber() : (x < 0.0 ? -y : y);
}

// The nearest binary16 number, ties to even, as bits.
uint halfBits(float x) {
  uint bits = floatBitsToUint(x);
  uint sign = (bits >> 16) & 0x8000u;
  uint magnitude = bits & 0x7FFFFFFFu;
  uint normal = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  uint small = uint(roundEven(uintBitsToFloat(magnitude) * 16777216.0));
  uint result = magnitude < 0x38800000u ? small : min(normal, 0x7C00u);
  if (magnitude >= 0x47800000u) result = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
  return sign | result;
}

float halfValue(uint bits) {
  uint exponent = (bits >> 10) & 31u;
  uint fraction = bits & 1023u;
  float magnitude = exponent == 0u
    ? float(fraction) * 5.9604644775390625e-8
    : uintBitsToFloat(exponent == 31u ? 0x7F800000u | (fraction << 13) : ((exponent + 112u) << 23) | (fraction << 13));
  return (bits & 0x8000u) != 0u ? -magnitude : magnitude;
}

// x times the normal distribution function at x.
float gaussianUnit(float x) {
  float z = x * 0.707106781;
  float tail = 0.5 * x * complementaryError(abs(z));
  float nearby = 0.5 * x * (1.0 + errorFunction(z));
  float far = x < 0.0 ? tail : (x == infinity() ? x : x - tail);
  return abs(z) < 0.75 ? nearby : far;
}

float gaussianUnitByTangent(float x) {
  float z = 0.797884561 * fma(0.044715 * x * x, x, x);
  return x / (1.0 + exponential(-2.0 * z));
}

#include "Generated/unary.glsl"

vec4 apply(uint function, vec4 x, float a, float b) {
  return vec4(apply(function, x.x, a, b), apply(function, x.y, a, b), apply(function, x.z, a, b),
    apply(function, x.w, a, b));
}
