#version 450
#extension GL_GOOGLE_include_directive : require
// The position of the largest or smallest element along the middle axis of [outer, length, inner], one line an
// invocation.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int KIND = 4;
layout(constant_id = 2) const bool SMALLEST = false;
layout(constant_id = 3) const bool LAST = false;
layout(constant_id = 4) const bool PAIRS = false;   // in the result

layout(push_constant) uniform Parameters { int lines, length, inner; float inverseInner; };
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

bool isUnordered(uvec4 a) { return KIND == FLOAT && isUnordered(uintBitsToFloat(a.x)); }

// Not-a-number is beyond every number.
bool isBetter(uvec4 a, uvec4 b) {
  if (isUnordered(a) || isUnordered(b)) return !isUnordered(b);
  if (KIND == FLOAT) {
    float u = uintBitsToFloat(SMALLEST ? b.x : a.x), v = uintBitsToFloat(SMALLEST ? a.x : b.x);
    return u > v;
  }
  return SMALLEST ? isLess(wide(a, KIND), wide(b, KIND), KIND) : isLess(wide(b, KIND), wide(a, KIND), KIND);
}

bool isSame(uvec4 a, uvec4 b) {
  if (isUnordered(a)) return isUnordered(b);
  return KIND == FLOAT ? uintBitsToFloat(a.x) == uintBitsToFloat(b.x) : wide(a, KIND) == wide(b, KIND);
}

void main() {
  int line = flatPosition();
  if (line >= lines) return;
  int outer = quotient(line, inner, inverseInner);
  int base = outer * length * inner + (line - outer * inner);
  uvec4 best = x(base);
  int position = 0;
  for (int i = 1; i < length; i++) {
    uvec4 v = x(base + i * inner);
    bool takes = isBetter(v, best);
    if (LAST) takes = takes || isSame(v, best);
    best = takes ? v : best;
    position = takes ? i : position;
  }
  if (PAIRS) {
    y[2 * line] = uint(position);
    y[2 * line + 1] = 0u;
  } else {
    y[line] = uint(position);
  }
}
