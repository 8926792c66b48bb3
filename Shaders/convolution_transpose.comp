#version 450
#extension GL_GOOGLE_include_directive : require
// A transposed convolution over two spatial axes of blocked tensors, four output channels of one position an
// invocation. Each output gathers the inputs that would be spread to it.
#include "common.glsl"

// Weights: [output blocks][taps][input channels in blocks][4 outputs]; depthwise [blocks][taps][4].
layout(constant_id = 1) const bool DEPTHWISE = false;

layout(push_constant) uniform Parameters {
  int count, outputArea, outputWidth, channels, blocks, inputBlocks, height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseBlocks, inverseStrideY, inverseStrideX;
};
layout(binding = 0) writeonly buffer Output { vec4 y[]; };
VECTORS(1, x)
VECTORS(2, weights)

// The input position whose tap reaches a padded output position, or -1.
int origin(int position, int stride, float inverse, int extent) {
  if (position < 0) return -1;
  int at = quotient(position, stride, inverse);
  return at * stride == position && at < extent ? at : -1;
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, outputArea, inverseArea);
  int place = index - plane * outputArea;
  int oy = quotient(place, outputWidth, inverseWidth);
  int ox = place - oy * outputWidth;
  int batch = quotient(plane, blocks, inverseBlocks);
  int block = plane - batch * blocks;
  int area = height * width;
  vec4 sum = vec4(0);
  for (int ky = 0; ky < kernelY; ky++) {
    int iy = origin(oy + beforeY - ky * dilationY, strideY, inverseStrideY, height);
    if (iy < 0) continue;
    for (int kx = 0; kx < kernelX; kx++) {
      int ix = origin(ox + beforeX - kx * dilationX, strideX, inverseStrideX, width);
      if (ix < 0) continue;
      int tap = block * kernelY * kernelX + ky * kernelX + kx;
      if (DEPTHWISE) {
        sum = fma(x(plane * area + iy * width + ix), weights(tap), sum);
        continue;
      }
      int source = batch * inputBlocks * area + iy * width + ix;
      int weight = tap * inputBlocks * 4;
      for (int c = 0; c < inputBlocks; c++) {
        vec4 v = x(source);
        sum = fma(v.xxxx, weights(weight), sum);
        sum = fma(v.yyyy, weights(weight + 1), sum);
        sum = fma(v.zzzz, weights(weight + 2), sum);
        sum = fma(v.wwww, weights(weight + 3), sum);
        source += area;
        weight += 4;
      }
    }
  }
  y[index] = mix(vec4(0), sum, lessThan(block * 4 + ivec4(0, 1, 2, 3), ivec4(channels)));
}
