// The functions of two elements; the list is dev/elementwise/binary.toml. Needs functions.glsl.

float power(float x, float y) {
  float p = exponential(y * logarithm(abs(x)));
  bool whole = y == floor(y);
  bool odd = whole && abs(y) < 16777216.0 && mod(y, 2.0) == 1.0;
  float signed = x < 0.0 ? (whole ? (odd ? -p : p) : uintBitsToFloat(0x7FC00000u)) : p;
  signed = x == 0.0 ? (y > 0.0 ? 0.0 : uintBitsToFloat(0x7F800000u)) : signed;
  if (y == 2.0) signed = x * x;
  if (y == 3.0) signed = x * x * x;
  if (y == 0.5 && x >= 0.0) signed = sqrt(x);
  if (y == -1.0) signed = 1.0 / x;
  if (y == 1.0) signed = x;
  return y == 0.0 || x == 1.0 ? 1.0 : signed;
}

// The remainder of x / y with the sign of x. Each step takes away what the quotient's 24 bits can say.
float remainder(float x, float y) {
  float d = abs(y);
  float r = abs(x);
  if (isinf(r) || d == 0.0 || x != x || y != y) return uintBitsToFloat(0x7FC00000u);
  if (isinf(d)) return x;
  for (int step = 0; step < 12 && r >= d; step++) {
    r = fma(-floor(r / d), d, r);
    if (r < 0.0) r += d;
  }
  r = r >= d ? r - d : r;
  return x < 0.0 ? -r : r;
}

float modulo(float x, float y) {
  float r = remainder(x, y);
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? r + y : r;
}

// floor(x / y), not misled by a quotient that rounds up to a whole number.
float floorQuotient(float x, float y) {
  float q = floor(x / y);
  if (isinf(q) || q != q || abs(q) > 16777216.0) return q;
  float r = fma(-q, y, x);
  if (y < 0.0 ? r > 0.0 : r < 0.0) q -= 1.0;
  else if (y < 0.0 ? r <= y : r >= y) q += 1.0;
  return q;
}

#define EACH(function) \
  vec4(function(x.x, y.x), function(x.y, y.y), function(x.z, y.z), function(x.w, y.w))
#include "Generated/binary.glsl"
