#version 450
#extension GL_GOOGLE_include_directive : require
// From the dense layout [N, C, area] to the blocked one [N, ceil(C / 4), area, 4], whose last block is filled with
// zeros.
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, area, blocks, channels;
  float inverseArea, inverseBlocks;
};
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
HALVES(1, x)

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
  vec4 v;
  for (int c = 0; c < 4; c++) {
    bool exists = channel + c < channels;
    float e = x((batch * channels + (exists ? channel + c : channel)) * area + place);
    v[c] = exists ? e : 0.0;
  }
  y[index] = STORED_VECTOR(v);
}
