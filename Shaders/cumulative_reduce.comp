#version 450
#extension GL_GOOGLE_include_directive : require
// Running sums or products along the middle axis of [outer, length, inner], one line an invocation.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int KIND = 4;
layout(constant_id = 2) const int BITS = 32;
layout(constant_id = 3) const bool PRODUCT = false;
layout(constant_id = 4) const bool EXCLUSIVE = false;
layout(constant_id = 5) const bool REVERSED = false;

layout(push_constant) uniform Parameters { int lines, length, inner; float inverseInner; };
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

void main() {
  int line = flatPosition();
  if (line >= lines) return;
  int outer = quotient(line, inner, inverseInner);
  int base = outer * length * inner + (line - outer * inner);
  float real = PRODUCT ? 1.0 : 0.0, lost = 0.0;
  uvec2 whole = uvec2(PRODUCT ? 1u : 0u, 0u);
  for (int i = 0; i < length; i++) {
    int at = base + (REVERSED ? length - 1 - i : i) * inner;
    uvec4 v = x(at);
    float realBefore = real;
    uvec2 wholeBefore = whole;
    if (KIND == FLOAT && PRODUCT) {
      real *= uintBitsToFloat(v.x);
    } else if (KIND == FLOAT) {
      real = compensatedSum(real, uintBitsToFloat(v.x), lost);
    } else {
      whole = PRODUCT ? product(whole, wide(v, KIND)) : sum(whole, wide(v, KIND));
    }
    if (KIND == FLOAT) {
      y[at] = floatBitsToUint(EXCLUSIVE ? realBefore : real);
    } else {
      uvec2 result = wrapped(EXCLUSIVE ? wholeBefore : whole, KIND, BITS);
      if (isPair(KIND)) {
        y[2 * at] = result.x;
        y[2 * at + 1] = result.y;
      } else {
        y[at] = result.x;
      }
    }
  }
}
