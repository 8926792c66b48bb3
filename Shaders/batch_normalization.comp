#version 450
#extension GL_GOOGLE_include_directive : require
// y = scale * x + shift by channel of a blocked tensor. Constants: all blocks' scales, then all blocks' shifts.
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, area, blocks;
  float inverseArea, inverseBlocks;
};
layout(binding = 0) writeonly buffer Output { vec4 y[]; };
VECTORS(1, x)
VECTORS(2, constants)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, area, inverseArea);
  int block = plane - quotient(plane, blocks, inverseBlocks) * blocks;
  y[index] = fma(x(index), constants(block), constants(blocks + block));
}
