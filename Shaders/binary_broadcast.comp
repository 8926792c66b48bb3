#version 450
#extension GL_GOOGLE_include_directive : require
// Two dense tensors, element by element, each broadcast along any axes (stride 0), one element an invocation.
#include "common.glsl"
#include "functions.glsl"
#include "combine.glsl"

layout(constant_id = 1) const uint FUNCTION = BINARY_ADD;

layout(push_constant) uniform Parameters {
  int count;
  int size[6], left[6], right[6];   // innermost first
  float inverse[6];
};
layout(binding = 0) writeonly buffer Output { STORED_FLOAT z[]; };
FLOATS(1, x)
FLOATS(2, y)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int rest = index, at = 0, other = 0;
  for (int axis = 0; axis < 6; axis++) {
    int outer = quotient(rest, size[axis], inverse[axis]);
    int place = rest - outer * size[axis];
    at += place * left[axis];
    other += place * right[axis];
    rest = outer;
  }
  z[index] = STORED_FLOAT(combine(FUNCTION, vec4(x(at)), vec4(y(other))).x);
}
