// The functions of two elements; the list is dev/elementwise/binary.toml. Needs functions.glsl.

// z^y for z >= 0 as e^(y ln z). An absolute error of the exponent is a relative error of the power, so the logarithm
// and its product with y are sums of two numbers. No fused multiply-add is relied on: drivers may split them.
float powerOfMagnitude(float z, float y) {
  vec2 logarithms = logarithmInTwo(z);
  float product = y * logarithms.x;
  if (!(abs(product) < 128.0)) return exponential(product);
  float yUpper = upperHalf(y), upper = upperHalf(logarithms.x);
  precise float yLower = y - yUpper, lower = logarithms.x - upper;
  precise float high = yUpper * upper;
  precise float low = yUpper * lower + (yLower * logarithms.x + y * logarithms.y);
  return exponential(high, low);
}

float power(float x, float y) {
  float z = abs(x);
  float p = powerOfMagnitude(z, y);
  if (z == 1.0 && !isUnordered(y)) p = 1.0;
  if (z == 0.0 && !isUnordered(y)) p = y > 0.0 ? 0.0 : infinity();
  if (y == 2.0) p = z * z;
  if (y == 3.0) p = z * z * z;
  if (y == 0.5) p = sqrt(z);
  if (y == -1.0) p = ratio(1.0, z);
  if (y == 1.0) p = z;
  bool whole = y == floor(y);
  bool odd = whole && abs(y) < 16777216.0 && mod(y, 2.0) == 1.0;
  bool negative = int(floatBitsToUint(x)) < 0 && !isUnordered(x);
  if (negative) p = odd ? -p : (whole || z == 0.0 || z == infinity() ? p : notANumber());
  return y == 0.0 || x == 1.0 ? 1.0 : p;
}

// The remainder of x / y with the sign of x, by long division of the significands, eight bits a step.
float remainder(float x, float y) {
  uint a = floatBitsToUint(x) & 0x7FFFFFFFu, b = floatBitsToUint(y) & 0x7FFFFFFFu;
  if (a >= 0x7F800000u || b > 0x7F800000u || b == 0u) return notANumber();
  if (a < b) return x;
  // Elements are significand * 2^(exponent - 150); denormals have the exponent 1 and no leading bit.
  int exponent = max(int(b >> 23), 1);
  uint divisor = exponent == 1 && b < 0x800000u ? b : (b & 0x7FFFFFu) | 0x800000u;
  uint rest = (a < 0x800000u ? a : (a & 0x7FFFFFu) | 0x800000u) % divisor;
  for (int places = max(int(a >> 23), 1) - exponent; places > 0; places -= 8) {
    rest = (rest << uint(min(places, 8))) % divisor;
  }
  int scale = exponent - 23;
  float r = scale > 0 ? float(rest) * uintBitsToFloat(uint(scale) << 23)
    : float(rest) * uintBitsToFloat(1u << 23) * uintBitsToFloat(uint(scale + 126) << 23);
  return int(floatBitsToUint(x)) < 0 ? -r : r;
}

float modulo(float x, float y) {
  float r = remainder(x, y);
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? r + y : r;
}

// floor(x / y), not misled by a quotient that rounds up to a whole number.
float floorQuotient(float x, float y) {
  float q = floor(ratio(x, y));
  if (!isFinite(q) || abs(q) > 16777216.0) return q;
  float r = fma(-q, y, x), next = fma(-1.0 - q, y, x);
  if (y < 0.0 ? r > 0.0 : r < 0.0) q -= 1.0;
  else if (y < 0.0 ? next <= 0.0 : next >= 0.0) q += 1.0;
  return q;
}

#define EACH(function) \
  vec4(function(x.x, y.x), function(x.y, y.y), function(x.z, y.z), function(x.w, y.w))
#include "Generated/binary.glsl"
