#version 450
#extension GL_GOOGLE_include_directive : require
// Any grouped convolution over up to three axes of a dense tensor, or its transpose, one output an invocation.
#include "common.glsl"

layout(constant_id = 1) const bool TRANSPOSED = false;
layout(constant_id = 2) const bool BIAS = false;
layout(constant_id = 3) const bool RESIDUAL = false;

layout(push_constant) uniform Parameters {
  int count, outputDepth, outputHeight, outputWidth, channels, groupOutputs, groupInputs;
  int depth, height, width, kernelZ, kernelY, kernelX, strideZ, strideY, strideX;
  int dilationZ, dilationY, dilationX, beforeZ, beforeY, beforeX;
  float inverseChannels, inverseDepth, inverseHeight, inverseWidth;
};
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)
FLOATS(2, weights)
FLOATS(3, bias)
FLOATS(4, residual)

// The input position of a tap of an output's window along an axis; -1 if the tap is outside the input.
int placed(int position, int tap, int stride, int dilation, int before, int size) {
  if (!TRANSPOSED) {
    int at = position * stride - before + tap * dilation;
    return at < size ? max(at, -1) : -1;
  }
  int spread = position + before - tap * dilation;
  return spread >= 0 && spread % stride == 0 && spread / stride < size ? spread / stride : -1;
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int line = quotient(index, outputWidth, inverseWidth);
  int slice = quotient(line, outputHeight, inverseHeight);
  int plane = quotient(slice, outputDepth, inverseDepth);
  int image = quotient(plane, channels, inverseChannels);
  int channel = plane - image * channels, group = channel / groupOutputs;
  int area = depth * height * width, taps = kernelZ * kernelY * kernelX;
  int source = (image * (channels / groupOutputs) + group) * groupInputs * area;
  int first = TRANSPOSED ? group * groupInputs * groupOutputs + channel - group * groupOutputs : channel * groupInputs;
  int step_ = TRANSPOSED ? groupOutputs * taps : taps;
  float sum = BIAS ? bias(channel) : 0.0;
  for (int kz = 0; kz < kernelZ; kz++) {
    int iz = placed(slice - plane * outputDepth, kz, strideZ, dilationZ, beforeZ, depth);
    for (int ky = 0; ky < kernelY; ky++) {
      int iy = placed(line - slice * outputHeight, ky, strideY, dilationY, beforeY, height);
      for (int kx = 0; kx < kernelX; kx++) {
        int ix = placed(index - line * outputWidth, kx, strideX, dilationX, beforeX, width);
        if (min(iz, min(iy, ix)) < 0) continue;
        int from = source + (iz * height + iy) * width + ix;
        int weight = first * taps + (kz * kernelY + ky) * kernelX + kx;
        for (int c = 0; c < groupInputs; c++) {
          sum = fma(x(from), weights(weight), sum);
          from += area;
          weight += step_;
        }
      }
    }
  }
  y[index] = STORED_FLOAT(RESIDUAL ? sum + residual(index) : sum);
}
