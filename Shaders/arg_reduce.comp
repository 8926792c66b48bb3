#version 450
#extension GL_GOOGLE_include_directive : require
// The position of the largest or smallest element along the middle axis of [outer, extent, inner], one line an
// invocation.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int KIND = 4;
layout(constant_id = 3) const int RESULT_KIND = 0;
layout(constant_id = 5) const uint SELECTED = 0u;   // 1 for the smallest element, plus 2 for the last of equal ones

layout(push_constant) uniform Parameters {
  ROW_PARAMETERS
  uint function;   // SELECTED
  int extent;
} s;
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

bool isUnordered(uvec4 a) { return KIND == FLOAT && isUnordered(uintBitsToFloat(a.x)); }

// Not-a-number is beyond every number.
bool isBetter(uvec4 a, uvec4 b) {
  if (isUnordered(a) || isUnordered(b)) return !isUnordered(b);
  if (KIND == FLOAT) {
    float u = uintBitsToFloat(a.x), v = uintBitsToFloat(b.x);
    return (SELECTED & 1u) != 0u ? u < v : u > v;
  }
  return (SELECTED & 1u) != 0u ? isLess(wide(a, KIND), wide(b, KIND), KIND) : isLess(wide(b, KIND), wide(a, KIND), KIND);
}

bool isSame(uvec4 a, uvec4 b) {
  if (isUnordered(a)) return isUnordered(b);
  return KIND == FLOAT ? uintBitsToFloat(a.x) == uintBitsToFloat(b.x) : wide(a, KIND) == wide(b, KIND);
}

void main() {
  EACH_ROW {
    EACH_COLUMN
    int base = row * s.extent * s.rowLength + column;
    uvec4 best = x(base);
    int position = 0;
    for (int i = 1; i < s.extent; i++) {
      uvec4 v = x(base + i * s.rowLength);
      bool takes = isBetter(v, best);
      if ((SELECTED & 2u) != 0u) takes = takes || isSame(v, best);
      best = takes ? v : best;
      position = takes ? i : position;
    }
    int line = row * s.rowLength + column;
    if (isPair(RESULT_KIND)) {
      y[2 * line] = uint(position);
      y[2 * line + 1] = 0u;
    } else {
      y[line] = uint(position);
    }
  }
}
