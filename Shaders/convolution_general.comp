#version 450
#extension GL_GOOGLE_include_directive : require
// Any grouped convolution with up to two spatial axes, on dense tensors, one output an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const bool RESIDUAL = false;
layout(constant_id = 2) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int count;
  int outputArea, outputWidth, channels, groupOutputs, groupInputs, inputChannels;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseChannels;
  float first, second;
};

layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)
FLOATS(2, weights)
FLOATS(3, bias)
FLOATS(4, residual)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, outputArea, inverseArea);
  int place = index - plane * outputArea;
  int oy = quotient(place, outputWidth, inverseWidth);
  int ox = place - oy * outputWidth;
  int batch = quotient(plane, channels, inverseChannels);
  int channel = plane - batch * channels;
  int source = (batch * inputChannels + channel / groupOutputs * groupInputs) * height * width;
  int weight = channel * groupInputs * kernelY * kernelX;
  float sum = bias(channel);
  for (int c = 0; c < groupInputs; c++) {
    for (int ky = 0; ky < kernelY; ky++) {
      int iy = oy * strideY - beforeY + ky * dilationY;
      for (int kx = 0; kx < kernelX; kx++) {
        int ix = ox * strideX - beforeX + kx * dilationX;
        bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
        float v = x(source + (inside ? iy * width + ix : 0));
        sum = fma(inside ? v : 0.0, weights(weight), sum);
        weight++;
      }
    }
    source += height * width;
  }
  if (RESIDUAL) sum += residual(index);
  y[index] = STORED_FLOAT(apply(ACTIVATION, sum, first, second));
}
