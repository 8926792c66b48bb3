#version 450
#extension GL_GOOGLE_include_directive : require
// Floats to integers of at most 32 bits: to the nearest multiple of a scale, from a zero point.
#include "common.glsl"
#include "integers.glsl"
#include "quantization.glsl"

layout(constant_id = 1) const int KIND = 0;
layout(constant_id = 2) const int BITS = 8;

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int place = parameterAt(index);
  float value = uintBitsToFloat(x(index).x), divisor = scale(place);
  // Division may be off in the last place; what is left over tells by how much.
  float q = value / divisor;
  float rest = fma(-q, divisor, value);
  float corrected = q + rest / divisor;
  if (abs(q) < 16777216.0 && !isUnordered(rest)) q = corrected;
  uvec2 v = integerOf(roundEven(q), SIGNED_PAIR);
  if (!isUnordered(q)) v = sum(v, wide(zero(place), KIND));
  if (abs(q) >= 4294967296.0) v = integerOf(q, SIGNED_PAIR);
  y[index] = fitted(v, KIND, BITS).x;
}
