#version 450
#extension GL_GOOGLE_include_directive : require
// Combines the elements of a dense tensor along up to three (merged) axes, one result an invocation.
#include "common.glsl"
#include "functions.glsl"
#include "axes.glsl"

// Numbered as `Reduce.Function` orders them: sum, mean, maximum, minimum, product, l1, l2, sum of squares, log sum,
// log sum exp.
layout(constant_id = 1) const uint FUNCTION = 0u;

layout(push_constant) uniform Parameters {
  int count, length;
  int kept[4], keptStride[4];          // innermost first
  int reduced[4], reducedStride[4];
};
layout(binding = 0) writeonly buffer Output { float y[]; };
layout(binding = 1) uniform samplerBuffer x;

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int base = address(index, kept, keptStride);
  float largest = uintBitsToFloat(0xFF800000u);
  if (FUNCTION == 9u) {
    for (int i = 0; i < length; i++) {
      largest = max(largest, texelFetch(x, base + address(i, reduced, reducedStride)).x);
    }
    if (isinf(largest)) largest = 0.0;
  }
  float result = FUNCTION == 2u ? uintBitsToFloat(0xFF800000u)
    : (FUNCTION == 3u ? uintBitsToFloat(0x7F800000u) : (FUNCTION == 4u ? 1.0 : 0.0));
  float lost = 0.0;
  for (int i = 0; i < length; i++) {
    float v = texelFetch(x, base + address(i, reduced, reducedStride)).x;
    if (FUNCTION == 2u) result = max(result, v);
    else if (FUNCTION == 3u) result = min(result, v);
    else if (FUNCTION == 4u) result *= v;
    else {
      if (FUNCTION == 5u) v = abs(v);
      if (FUNCTION == 6u || FUNCTION == 7u) v = v * v;
      if (FUNCTION == 9u) v = exponential(v - largest);
      precise float corrected = v - lost;
      precise float total = result + corrected;
      precise float error = (total - result) - corrected;
      lost = error;
      result = total;
    }
  }
  if (FUNCTION == 1u) result /= float(length);
  if (FUNCTION == 6u) result = sqrt(result);
  if (FUNCTION == 8u) result = logarithm(result);
  if (FUNCTION == 9u) result = largest + logarithm(result);
  y[index] = result;
}
