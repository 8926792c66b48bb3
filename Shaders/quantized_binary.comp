#version 450
#extension GL_GOOGLE_include_directive : require
// Sums or products of two dense 8-bit tensors that stand for real numbers, in 8 bits again, with broadcasting.
#include "common.glsl"
#include "integers.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 1) const int AXES = 1;
layout(constant_id = 2) const bool PRODUCT = false;

layout(push_constant) uniform Parameters {
  int count, xZero, yZero, zZero, low, high;
  int size[6], left[6], right[6];
  float xScale, yScale;   // in steps of the result; of a product the first alone
};
layout(binding = 0) writeonly buffer Output { uint z[]; };
WORDS(1, x)
WORDS(2, y)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int at = 0, other = 0;
  FOR_EACH_AXIS(index, at += place * left[axis]; other += place * right[axis];)
  float a = float(int(x(at).x) - xZero), b = float(int(y(other).x) - yZero);
  float steps = roundEven(PRODUCT ? a * b * xScale : a * xScale + b * yScale);
  steps = isUnordered(steps) ? 0.0 : clamp(steps, -65536.0, 65536.0);
  z[index] = uint(clamp(int(steps) + zZero, low, high));
}
