#version 450
#extension GL_GOOGLE_include_directive : require
// One function of every element, four an invocation, in any layout.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const uint FUNCTION = UNARY_NONE;

layout(push_constant) uniform Parameters { int count; float a, b; };
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
HALF_VECTORS(1, x)

void main() {
  int index = flatPosition();
  if (index < count) y[index] = STORED_VECTOR(apply(FUNCTION, x(index), a, b));
}
