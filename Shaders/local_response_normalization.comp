#version 450
#extension GL_GOOGLE_include_directive : require
// y = x / (k + share * sum of squares over neighbouring channels)^beta on a blocked tensor, one block an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(push_constant) uniform Parameters {
  int count, area, blocks, channels, before, after;   // channels of the window before and after each
  float k, share, beta;
  float inverseArea, inverseBlocks;
};
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, area, inverseArea);
  int place = index - plane * area;
  int batch = quotient(plane, blocks, inverseBlocks);
  int first = (plane - batch * blocks) * 4;
  vec4 sum = vec4(0);
  int low = max(first - before, 0), high = min(first + 3 + after, channels - 1);
  for (int block = low / 4; block <= high / 4; block++) {
    vec4 v = x((batch * blocks + block) * area + place);
    for (int lane = 0; lane < 4; lane++) {
      ivec4 offset = ivec4(block * 4 + lane - first) - ivec4(0, 1, 2, 3);
      bvec4 counts = equal(clamp(offset, ivec4(-before), ivec4(after)), offset);
      sum += mix(vec4(0), vec4(v[lane] * v[lane]), counts);
    }
  }
  vec4 v = x(index);
  for (int lane = 0; lane < 4; lane++) {
    float result = v[lane] * exponential(-beta * logarithm(fma(share, sum[lane], k)));
    v[lane] = first + lane < channels ? result : 0.0;
  }
  y[index] = STORED_VECTOR(v);
}
