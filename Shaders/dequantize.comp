#version 450
#extension GL_GOOGLE_include_directive : require
// Integers of at most 32 bits to floats: multiples of a scale, from a zero point.
#include "common.glsl"
#include "integers.glsl"
#include "quantization.glsl"

layout(constant_id = 1) const int KIND = 0;

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int place = parameterAt(index);
  uvec2 difference = sum(wide(x(index), KIND), negated(wide(zero(place), KIND)));
  bool negative = int(difference.y) < 0;
  uvec2 size = negative ? negated(difference) : difference;
  // Of two operands of 32 bits the difference may take 33.
  float v = size.y == 0u ? float(size.x) : 4294967296.0;
  y[index] = floatBitsToUint((negative ? -v : v) * scale(place));
}
