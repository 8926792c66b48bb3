#version 450
#extension GL_GOOGLE_include_directive : require
// From float32 to float16, rounded to nearest even, two elements an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(push_constant) uniform Parameters { int count; };   // of pairs
layout(binding = 0) writeonly buffer Output { uint y[]; };
FLOATS(1, x)

void main() {
  int index = flatPosition();
  if (index < count) y[index] = halfBits(x(2 * index)) | halfBits(x(2 * index + 1)) << 16;
}
