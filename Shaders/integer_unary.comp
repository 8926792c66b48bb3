#version 450
#extension GL_GOOGLE_include_directive : require
// One function of every integer or truth value of a dense tensor.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"

layout(constant_id = 1) const uint FUNCTION = UNARY_NONE;
layout(constant_id = 2) const int KIND = 0;
layout(constant_id = 3) const int BITS = 32;

layout(push_constant) uniform Parameters {
  int count;
  uint lowA, highA, lowB, highB;   // the function's parameters, as integers
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

uvec2 apply(uvec2 v) {
  bool negative = isSigned(KIND) && int(v.y) < 0;
  uvec2 least = uvec2(lowA, highA), most = uvec2(lowB, highB);
  switch (FUNCTION) {
  case UNARY_RELU: return negative ? uvec2(0u) : v;
  case UNARY_CLIP: {
    uvec2 w = isLess(v, least, KIND) ? least : v;
    return isLess(most, w, KIND) ? most : w;
  }
  case UNARY_ABS: return negative ? negated(v) : v;
  case UNARY_NEGATE: return negated(v);
  case UNARY_SIGN: return negative ? uvec2(0xFFFFFFFFu) : uvec2(v == uvec2(0u) ? 0u : 1u, 0u);
  case UNARY_SQUARE: return product(v, v);
  case UNARY_LOGICAL_NOT: return uvec2(v == uvec2(0u) ? 1u : 0u, 0u);
  default: return v;
  }
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  uvec2 v = apply(wide(x(index), KIND));
  v = FUNCTION == UNARY_CLIP ? fitted(v, KIND, BITS) : wrapped(v, KIND, BITS);
  if (isPair(KIND)) {
    y[2 * index] = v.x;
    y[2 * index + 1] = v.y;
  } else {
    y[index] = v.x;
  }
}
