#version 450
#extension GL_GOOGLE_include_directive : require
// Combines the integers of a dense tensor along up to four (merged) axes, one result an invocation.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"
#include "axes.glsl"

layout(constant_id = 1) const uint FUNCTION = REDUCE_SUM;
layout(constant_id = 2) const int KIND = 0;
layout(constant_id = 3) const int BITS = 32;

layout(push_constant) uniform Parameters {
  int count, length;
  int kept[4], keptStride[4];          // innermost first
  int reduced[4], reducedStride[4];
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

uvec2 smallest() { return isSigned(KIND) ? uvec2(0u, 0x80000000u) : uvec2(0u); }
uvec2 largest() { return uvec2(0xFFFFFFFFu, isSigned(KIND) ? 0x7FFFFFFFu : 0xFFFFFFFFu); }

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int base = address(index, kept, keptStride);
  uvec2 result = FUNCTION == REDUCE_MAXIMUM ? smallest()
    : FUNCTION == REDUCE_MINIMUM ? largest() : uvec2(FUNCTION == REDUCE_PRODUCT ? 1u : 0u, 0u);
  for (int i = 0; i < length; i++) {
    uvec2 v = wide(x(base + address(i, reduced, reducedStride)), KIND);
    switch (FUNCTION) {
    case REDUCE_MAXIMUM: result = isLess(result, v, KIND) ? v : result; break;
    case REDUCE_MINIMUM: result = isLess(v, result, KIND) ? v : result; break;
    case REDUCE_PRODUCT: result = product(result, v); break;
    case REDUCE_L1: result = sum(result, magnitude(v, KIND)); break;
    case REDUCE_SUM_OF_SQUARES: result = sum(result, product(v, v)); break;
    default: result = sum(result, v);
    }
  }
  if (FUNCTION == REDUCE_MEAN) result = divided(result, uvec2(uint(length), 0u), KIND);
  result = wrapped(result, KIND, BITS);
  if (isPair(KIND)) {
    y[2 * index] = result.x;
    y[2 * index + 1] = result.y;
  } else {
    y[index] = result.x;
  }
}
