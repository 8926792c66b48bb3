// The functions of two elements, numbered as `Binary.Function` orders them. Needs functions.glsl.

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

vec4 combine(uint function, vec4 x, vec4 y) {
  switch (function) {
  case 0u: return x + y;
  case 1u: return x - y;
  case 2u: return x * y;
  case 3u: return x / y;
  case 4u: return min(x, y);
  case 5u: return max(x, y);
  default: return vec4(power(x.x, y.x), power(x.y, y.y), power(x.z, y.z), power(x.w, y.w));
  }
}
