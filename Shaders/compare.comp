#version 450
#extension GL_GOOGLE_include_directive : require
// Two dense tensors compared element by element with broadcasting. The result is 1 or 0.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 1) const int AXES = 1;
layout(constant_id = 2) const uint FUNCTION = COMPARE_EQUAL;
layout(constant_id = 3) const int KIND = 4;

layout(push_constant) uniform Parameters {
  int count;
  int size[6], left[6], right[6];
};
layout(binding = 0) writeonly buffer Output { uint z[]; };
WORDS(1, x)
WORDS(2, y)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int at = 0, other = 0;
  FOR_EACH_AXIS(index, at += place * left[axis]; other += place * right[axis];)
  uvec4 a = x(at), b = y(other);
  bool equal, less, greater;
  if (KIND == FLOAT) {
    float u = uintBitsToFloat(a.x), v = uintBitsToFloat(b.x);
    equal = u == v;
    less = u < v;
    greater = u > v;
  } else {
    uvec2 u = wide(a, KIND), v = wide(b, KIND);
    equal = u == v;
    less = isLess(u, v, KIND);
    greater = isLess(v, u, KIND);
  }
  bool result = FUNCTION == COMPARE_EQUAL ? equal
    : FUNCTION == COMPARE_NOT_EQUAL ? !equal
    : FUNCTION == COMPARE_LESS ? less
    : FUNCTION == COMPARE_LESS_OR_EQUAL ? less || equal
    : FUNCTION == COMPARE_GREATER ? greater : greater || equal;
  z[index] = result ? 1u : 0u;
}
