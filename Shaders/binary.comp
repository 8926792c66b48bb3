#version 450
#extension GL_GOOGLE_include_directive : require
// Two tensors of one layout, element by element; either may also be one element, or one element a channel and batch of
// the blocked layout. Four elements an invocation.
#include "common.glsl"
#include "functions.glsl"
#include "combine.glsl"

layout(constant_id = 1) const uint FUNCTION = BINARY_ADD;
// 0 a whole tensor, 1 one block of four for each plane, 2 one element
layout(constant_id = 2) const int LEFT = 0;
layout(constant_id = 3) const int RIGHT = 0;

layout(push_constant) uniform Parameters {
  int count, area;
  int leftPlanes, rightPlanes;   // planes after which the smaller operand repeats
  float inverseArea, inverseLeftPlanes, inverseRightPlanes;
};
layout(binding = 0) writeonly buffer Output { STORED_VECTOR z[]; };
VECTORS(1, x)
VECTORS(2, y)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = LEFT == 1 || RIGHT == 1 ? quotient(index, area, inverseArea) : 0;
  int leftPlane = LEFT == 1 ? plane - quotient(plane, leftPlanes, inverseLeftPlanes) * leftPlanes : 0;
  int rightPlane = RIGHT == 1 ? plane - quotient(plane, rightPlanes, inverseRightPlanes) * rightPlanes : 0;
  vec4 left = x(LEFT == 0 ? index : leftPlane);
  vec4 right = y(RIGHT == 0 ? index : rightPlane);
  if (LEFT == 2) left = left.xxxx;
  if (RIGHT == 2) right = right.xxxx;
  z[index] = STORED_VECTOR(combine(FUNCTION, left, right));
}
