#version 450
#extension GL_GOOGLE_include_directive : require
// x where the condition holds, else y: dense tensors of one or two words an element, with broadcasting.
#include "common.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 1) const int AXES = 1;
layout(constant_id = 2) const bool PAIRS = false;

layout(push_constant) uniform Parameters {
  int count;
  int size[6], choice[6], left[6], right[6];
};
layout(binding = 0) writeonly buffer Output { STORED_WORD z[]; };
WORDS(1, condition)
WORDS(2, x)
WORDS(3, y)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int chosen = 0, at = 0, other = 0;
  FOR_EACH_AXIS(index, chosen += place * choice[axis]; at += place * left[axis]; other += place * right[axis];)
  uvec4 a = x(at), b = y(other);
  uvec4 v = condition(chosen).x != 0u ? a : b;
  if (PAIRS) {
    z[2 * index] = STORED_WORD(v.x);
    z[2 * index + 1] = STORED_WORD(v.y);
  } else {
    z[index] = STORED_WORD(v.x);
  }
}
