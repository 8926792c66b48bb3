#version 450
#extension GL_GOOGLE_include_directive : require
// Any grouped transposed convolution with up to two spatial axes, on dense tensors, one output an invocation. Weights:
// [input channels][output channels of a group][taps].
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, outputArea, outputWidth, channels, groupOutputs, groupInputs, inputChannels, height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseChannels;
};
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)
FLOATS(2, weights)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, outputArea, inverseArea);
  int place = index - plane * outputArea;
  int oy = quotient(place, outputWidth, inverseWidth);
  int ox = place - oy * outputWidth;
  int batch = quotient(plane, channels, inverseChannels);
  int channel = plane - batch * channels;
  int group = channel / groupOutputs;
  int taps = kernelY * kernelX;
  int area = height * width;
  float sum = 0.0;
  for (int ky = 0; ky < kernelY; ky++) {
    int py = oy + beforeY - ky * dilationY;
    if (py < 0 || py % strideY != 0 || py / strideY >= height) continue;
    for (int kx = 0; kx < kernelX; kx++) {
      int px = ox + beforeX - kx * dilationX;
      if (px < 0 || px % strideX != 0 || px / strideX >= width) continue;
      int source = (batch * inputChannels + group * groupInputs) * area + py / strideY * width + px / strideX;
      int weight = (group * groupInputs * groupOutputs + channel - group * groupOutputs) * taps + ky * kernelX + kx;
      for (int c = 0; c < groupInputs; c++) {
        sum = fma(x(source), weights(weight), sum);
        source += area;
        weight += groupOutputs * taps;
      }
    }
  }
  y[index] = STORED_FLOAT(sum);
}
