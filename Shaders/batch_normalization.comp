#version 450
#extension GL_GOOGLE_include_directive : require
// y = scale * x + shift by channel of a blocked tensor. Constants: all blocks' scales, then all blocks' shifts.
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, area, blocks;
  float inverseArea, inverseBlocks;
};
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)
WIDE_VECTORS(2, constants)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, area, inverseArea);
  int block = plane - quotient(plane, blocks, inverseBlocks) * blocks;
  y[index] = STORED_VECTOR(fma(x(index), constants(block), constants(blocks + block)));
}
