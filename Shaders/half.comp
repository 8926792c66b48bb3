#version 450
#extension GL_GOOGLE_include_directive : require
// From float32 to float16, rounded to nearest even, two elements an invocation.
#include "common.glsl"
#include "functions.glsl"

// Whether finite numbers stay finite: those beyond the largest float16 become that.
layout(constant_id = 1) const bool KEEPS_FINITE = false;

layout(push_constant) uniform Parameters { int count; };   // of pairs
layout(binding = 0) writeonly buffer Output { uint y[]; };
FLOATS(1, x)

uint stored(float v) {
  return halfBits(KEEPS_FINITE && isFinite(v) ? clamp(v, -65504.0, 65504.0) : v);
}

void main() {
  int index = flatPosition();
  if (index < count) y[index] = stored(x(2 * index)) | stored(x(2 * index + 1)) << 16;
}
