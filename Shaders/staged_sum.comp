#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Adds the sums of staged_product.comp, [share][result], in the order of the shares, and finishes them as that does. One
// vector of four channels an invocation.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 1) const bool RESIDUAL = false;
layout(constant_id = 2) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int count, shares;
  int area;                   // 1 if a position's channels lie side by side
  int outputBlocks, channels;
  float inverseArea, inverseBlocks;
  float first, second;
};

RESULTS(y)
WIDE_VECTORS(1, sums)
VECTORS(2, residual)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  vec4 result = sums(index);
  // Several are read at a time, since each may take long to come.
  for (int share = 1; share < shares; share += 4) {
    vec4 four[4];
    [[unroll]] for (int i = 0; i < 4; i++) four[i] = sums(min(share + i, shares - 1) * count + index);
    [[unroll]] for (int i = 0; i < 4; i++) {
      if (share + i < shares) result += four[i];
    }
  }
  if (RESIDUAL) result += residual(index);
  int plane = quotient(index, area, inverseArea);
  int block = plane - quotient(plane, outputBlocks, inverseBlocks) * outputBlocks;
  ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
  STORE_RESULT(y, index, mix(vec4(0), ACTIVATED(result), lessThan(channel, ivec4(channels))));
}
