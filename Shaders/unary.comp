#version 450
#extension GL_GOOGLE_include_directive : require
// One function of every element, four an invocation, in any layout.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const uint VARIANT = UNARY_NONE;   // s.function

layout(push_constant) uniform Parameters { ROW_PARAMETERS uint function; float a, b; } s;
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
HALF_VECTORS(1, x)

void main() {
  int index = flatPosition();
  if (index < s.rowLength) y[index] = STORED_VECTOR(apply(VARIANT, x(index), s.a, s.b));
}
