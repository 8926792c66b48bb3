#version 450
#extension GL_GOOGLE_include_directive : require
// y = x / (k + share * sum of squares over neighbouring channels)^beta on a blocked tensor, one block an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(push_constant) uniform Parameters {
  ROW_PARAMETERS
  int blocks, channels, before, after;   // channels of the window before and after each
  float k, share, beta;
} s;
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)

void main() {
  EACH_ROW {
    EACH_COLUMN
    int batch = row / s.blocks;
    int first = (row - batch * s.blocks) * 4;
    vec4 sum = vec4(0);
    int low = max(first - s.before, 0), high = min(first + 3 + s.after, s.channels - 1);
    for (int block = low / 4; block <= high / 4; block++) {
      vec4 v = x((batch * s.blocks + block) * s.rowLength + column);
      for (int lane = 0; lane < 4; lane++) {
        ivec4 offset = ivec4(block * 4 + lane - first) - ivec4(0, 1, 2, 3);
        bvec4 counts = equal(clamp(offset, ivec4(-s.before), ivec4(s.after)), offset);
        sum += mix(vec4(0), vec4(v[lane] * v[lane]), counts);
      }
    }
    int index = row * s.rowLength + column;
    vec4 v = x(index);
    for (int lane = 0; lane < 4; lane++) {
      float result = v[lane] * exponential(-s.beta * logarithm(fma(s.share, sum[lane], s.k)));
      v[lane] = first + lane < s.channels ? result : 0.0;
    }
    y[index] = STORED_VECTOR(v);
  }
}
