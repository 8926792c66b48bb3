#version 450
#extension GL_GOOGLE_include_directive : require
// Changes of element type between dense tensors, and from the bytes of a narrow integer at a segment's boundary.
#include "common.glsl"
#include "functions.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int SOURCE = 4;   // the source's kind, and its bits where it is an integer
layout(constant_id = 2) const int SOURCE_BITS = 32;
layout(constant_id = 3) const int TARGET = 4;
layout(constant_id = 4) const int TARGET_BITS = 32;   // 16 for a float that is rounded to half, 1 for a truth value

layout(push_constant) uniform Parameters { ROW_PARAMETERS } s;
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

void main() {
  int index = flatPosition();
  if (index >= s.rowLength) return;
  uvec4 texel = x(index);
  if (SOURCE == SIGNED && SOURCE_BITS < 32) texel.x = uint(bitfieldExtract(int(texel.x), 0, SOURCE_BITS));
  float real = uintBitsToFloat(texel.x);
  if (TARGET == FLOAT) {
    float v = SOURCE == FLOAT ? real : floatOf(wide(texel, SOURCE), SOURCE);
    y[index] = floatBitsToUint(TARGET_BITS == 16 ? halfValue(halfBits(v)) : v);
    return;
  }
  uvec2 v;
  if (TARGET_BITS == 1) {
    bool holds = SOURCE == FLOAT ? real != 0.0 : wide(texel, SOURCE) != uvec2(0u);
    v = uvec2(holds ? 1u : 0u, 0u);
  } else if (SOURCE == FLOAT) {
    v = fitted(integerOf(real, TARGET == UNSIGNED_PAIR ? UNSIGNED_PAIR : SIGNED_PAIR), TARGET, TARGET_BITS);
  } else {
    v = wrapped(wide(texel, SOURCE), TARGET, TARGET_BITS);
  }
  if (isPair(TARGET)) {
    y[2 * index] = v.x;
    y[2 * index + 1] = v.y;
  } else {
    y[index] = v.x;
  }
}
