#version 450
#extension GL_GOOGLE_include_directive : require
// From the blocked layout [N, ceil(C / 4), area, 4] to the dense one [N, C, area].
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, area, blocks, channels;   // count: of blocks
  float inverseArea, inverseBlocks;
};
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
VECTORS(1, x)

void main() {
  EARLY(int, area)
  EARLY(int, blocks)
  EARLY(int, channels)
  EARLY(float, inverseArea)
  EARLY(float, inverseBlocks)
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, area, inverseArea);
  int place = index - plane * area;
  int batch = quotient(plane, blocks, inverseBlocks);
  int channel = (plane - batch * blocks) * 4;
  vec4 v = x(index);
  for (int c = 0; c < 4; c++) {
    if (channel + c < channels) y[(batch * channels + channel + c) * area + place] = STORED_FLOAT(v[c]);
  }
}
