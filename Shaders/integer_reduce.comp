#version 450
#extension GL_GOOGLE_include_directive : require
// Combines the integers of a dense tensor along up to four (merged) axes, one result an invocation.
#include "common.glsl"
#include "integers.glsl"
#include "axes.glsl"

layout(constant_id = 1) const uint FUNCTION = 0u;   // numbered as `Reduce.Function` orders them
layout(constant_id = 2) const int KIND = 0;
layout(constant_id = 3) const int BITS = 32;

layout(push_constant) uniform Parameters {
  int count, length;
  int kept[4], keptStride[4];          // innermost first
  int reduced[4], reducedStride[4];
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
layout(binding = 1) uniform usamplerBuffer x;

uvec2 smallest() { return isSigned(KIND) ? uvec2(0u, 0x80000000u) : uvec2(0u); }
uvec2 largest() { return uvec2(0xFFFFFFFFu, isSigned(KIND) ? 0x7FFFFFFFu : 0xFFFFFFFFu); }

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int base = address(index, kept, keptStride);
  uvec2 result = FUNCTION == 2u ? smallest() : FUNCTION == 3u ? largest() : uvec2(FUNCTION == 4u ? 1u : 0u, 0u);
  for (int i = 0; i < length; i++) {
    uvec2 v = wide(texelFetch(x, base + address(i, reduced, reducedStride)), KIND);
    switch (FUNCTION) {
    case 2u: result = isLess(result, v, KIND) ? v : result; break;
    case 3u: result = isLess(v, result, KIND) ? v : result; break;
    case 4u: result = product(result, v); break;
    case 5u: result = sum(result, magnitude(v, KIND)); break;
    case 7u: result = sum(result, product(v, v)); break;
    default: result = sum(result, v);
    }
  }
  if (FUNCTION == 1u) result = divided(result, uvec2(uint(length), 0u), KIND);
  result = wrapped(result, KIND, BITS);
  if (isPair(KIND)) {
    y[2 * index] = result.x;
    y[2 * index + 1] = result.y;
  } else {
    y[index] = result.x;
  }
}
