#version 450
#extension GL_GOOGLE_include_directive : require
// Two dense tensors of integers or truth values, element by element with broadcasting.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 1) const int AXES = 1;
layout(constant_id = 2) const uint FUNCTION = BINARY_ADD;
layout(constant_id = 3) const int KIND = 0;
layout(constant_id = 4) const int BITS = 32;

layout(push_constant) uniform Parameters {
  int count;
  int size[6], left[6], right[6];
};
layout(binding = 0) writeonly buffer Output { uint z[]; };
WORDS(1, x)
WORDS(2, y)

uvec2 combine(uvec2 a, uvec2 b) {
  switch (FUNCTION) {
  case BINARY_ADD: return sum(a, b);
  case BINARY_SUBTRACT: return sum(a, negated(b));
  case BINARY_MULTIPLY: return product(a, b);
  case BINARY_DIVIDE: return divided(a, b, KIND);
  case BINARY_MINIMUM: return isLess(b, a, KIND) ? b : a;
  case BINARY_MAXIMUM: return isLess(a, b, KIND) ? b : a;
  case BINARY_POWER: return raised(a, b, KIND);
  case BINARY_LOGICAL_AND: return a & b;
  case BINARY_LOGICAL_OR: return a | b;
  case BINARY_LOGICAL_XOR: return a ^ b;
  case BINARY_SHIFT_LEFT: return shiftedLeft(a, b);
  case BINARY_SHIFT_RIGHT: return shiftedRight(a, b, KIND);
  }
  if (b == uvec2(0u)) return uvec2(0u);
  uvec2 q = divided(a, b, KIND);
  uvec2 r = sum(a, negated(product(q, b)));
  bool turns = FUNCTION != BINARY_REMAINDER && r != uvec2(0u) && isSigned(KIND) && int(a.y ^ b.y) < 0;
  if (FUNCTION == BINARY_FLOOR_DIVIDE) return turns ? sum(q, uvec2(0xFFFFFFFFu)) : q;
  return turns ? sum(r, b) : r;
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int at = 0, other = 0;
  FOR_EACH_AXIS(index, at += place * left[axis]; other += place * right[axis];)
  uvec2 v = wrapped(combine(wide(x(at), KIND), wide(y(other), KIND)), KIND, BITS);
  if (isPair(KIND)) {
    z[2 * index] = v.x;
    z[2 * index + 1] = v.y;
  } else {
    z[index] = v.x;
  }
}
