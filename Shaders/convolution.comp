#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A convolution on blocked tensors, one or many groups. Each invocation computes PIXELS positions of 4 * BLOCKS output
// channels. Weights: [output tile][tap][input block][4 input channels][4 * BLOCKS output channels].
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 2) const int BLOCKS = 2;
layout(constant_id = 3) const int PIXELS = 4;
layout(constant_id = 4) const bool WINDOWED = true;
layout(constant_id = 5) const bool RESIDUAL = false;
layout(constant_id = 6) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int inputBlocks;   // of the whole input
  int groupBlocks;   // of the input of one group
  int groupTiles;    // output tiles of one group
  int outputBlocks;
  int channels;      // of the output
  int positions;     // batch * output height * output width
  int inputArea, outputArea, outputWidth;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth;
  float first, second;
};

layout(binding = 0) writeonly buffer Output { vec4 y[]; };
layout(binding = 1) uniform samplerBuffer x;
layout(binding = 2) uniform samplerBuffer weights;
layout(binding = 3) uniform samplerBuffer bias;
layout(binding = 4) uniform samplerBuffer residual;

void main() {
  int tile = int(gl_WorkGroupID.y);
  int group = tile / groupTiles;
  int position[PIXELS], batch[PIXELS], place[PIXELS], source[PIXELS], top[PIXELS], left[PIXELS];
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int p = (groupPosition() * PIXELS + i) * int(gl_WorkGroupSize.x) + int(gl_LocalInvocationID.x);
    position[i] = min(p, positions - 1);
    batch[i] = quotient(position[i], outputArea, inverseArea);
    place[i] = position[i] - batch[i] * outputArea;
    source[i] = (batch[i] * inputBlocks + group * groupBlocks) * inputArea;
    if (WINDOWED) {
      int row = quotient(place[i], outputWidth, inverseWidth);
      top[i] = row * strideY - beforeY;
      left[i] = (place[i] - row * outputWidth) * strideX - beforeX;
    } else {
      source[i] += place[i];
    }
  }

  vec4 sum[PIXELS * BLOCKS];
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    vec4 start = texelFetch(bias, tile * BLOCKS + b);
    [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i * BLOCKS + b] = start;
  }

  int weight = tile * kernelY * kernelX * groupBlocks * 4 * BLOCKS;
  for (int ky = 0; ky < (WINDOWED ? kernelY : 1); ky++) {
    for (int kx = 0; kx < (WINDOWED ? kernelX : 1); kx++) {
      int at[PIXELS];
      bool inside[PIXELS];
      [[unroll]] for (int i = 0; i < PIXELS; i++) {
        at[i] = source[i];
        inside[i] = true;
        if (WINDOWED) {
          int iy = top[i] + ky * dilationY;
          int ix = left[i] + kx * dilationX;
          inside[i] = iy >= 0 && iy < height && ix >= 0 && ix < width;
          at[i] += inside[i] ? iy * width + ix : 0;
        }
      }
      for (int block = 0; block < groupBlocks; block++) {
        vec4 v[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) {
          v[i] = texelFetch(x, at[i]);
          if (WINDOWED) v[i] = inside[i] ? v[i] : vec4(0);
          at[i] += inputArea;
        }
        TEXELS(w, 4 * BLOCKS);
        LOAD(w, 4 * BLOCKS, weights, weight);
        [[unroll]] for (int c = 0; c < 4; c++) {
          [[unroll]] for (int b = 0; b < BLOCKS; b++) {
            vec4 row = TEXEL(w, weights, weight, c * BLOCKS + b);
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              sum[i * BLOCKS + b] = fma(vec4(v[i][c]), row, sum[i * BLOCKS + b]);
            }
          }
        }
        weight += 4 * BLOCKS;
      }
    }
  }

  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    int block = tile * BLOCKS + b;
    if (block < outputBlocks) {
      ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
      [[unroll]] for (int i = 0; i < PIXELS; i++) {
        int target = (batch[i] * outputBlocks + block) * outputArea + place[i];
        vec4 result = sum[i * BLOCKS + b];
        if (RESIDUAL) result += texelFetch(residual, target);
        result = apply(ACTIVATION, result, first, second);
        y[target] = mix(vec4(0), result, lessThan(channel, ivec4(channels)));
      }
    }
  }
}
