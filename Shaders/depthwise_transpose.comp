#version 450
#extension GL_GOOGLE_include_directive : require
// A transposed convolution with one filter a channel over two spatial axes of blocked tensors, four channels of one
// position an invocation. Each output gathers the inputs that would be spread to it. Weights: [blocks][taps][4].
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, outputArea, outputWidth, channels, blocks, height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseBlocks, inverseStrideY, inverseStrideX;
};
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)
HALF_VECTORS(2, weights)

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
      vec4 tap = weights(block * kernelY * kernelX + ky * kernelX + kx);
      sum = fma(x(plane * area + iy * width + ix), tap, sum);
    }
  }
  y[index] = STORED_VECTOR(mix(vec4(0), sum, lessThan(block * 4 + ivec4(0, 1, 2, 3), ivec4(channels))));
}
